// SPDX-License-Identifier: BSD-3-Clause
/*
 * The screen, by ncurses, which sends a terminal nothing but changes. A pane is as wide as the
 * window; high windows show the panes behind the chosen one as well.
 */
#include <errno.h>
#include <math.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "show/top/panes.h"

#define HEAD 2 /* lines */
#define FOOT 1
#define PANE_LEAST 12 /* lines of a pane, before another one comes beside it */

struct top_screen {
	SCREEN *term;
	bool colours;
	enum pane_kind pane;
	int column[PANES]; /* sorted by; -1: as the pane has it */
	bool up[PANES];
	char filter[40];
	bool typing; /* the filter */
	bool frozen, help;
	size_t top; /* first row shown of the chosen pane */
	bool any; /* the rest is there */
	bool named; /* rows have their node, and there is a pane of nodes */
	struct pane_head head;
	char note[200];
	struct pane panes[PANES];
};

static int panes_of(const struct top_screen *screen)
{
	return screen->named ? PANES : PANE_NODES;
}

static void release_panes(struct top_screen *screen)
{
	for (int kind = 0; kind < PANES; kind++) {
		pane_release(&screen->panes[kind]);
		screen->panes[kind] = (struct pane){ .title = pane_name(kind) };
	}
}

struct top_screen *top_screen_open(void)
{
	const char *without = getenv("NO_COLOR");
	struct top_screen *screen = xcalloc(1, sizeof(*screen));

	screen->term = newterm(NULL, stdout, stdin);
	if (!screen->term) {
		free(screen);
		errno = ENOTTY;
		return NULL;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	set_escdelay(25);
	curs_set(0);
	screen->colours = !(without && *without) && has_colors();
	if (screen->colours) {
		start_color();
		use_default_colors();
		init_pair(PANE_WARN, COLOR_YELLOW, -1);
		init_pair(PANE_BAD, COLOR_RED, -1);
	}
	for (int kind = 0; kind < PANES; kind++)
		screen->column[kind] = -1;
	release_panes(screen);
	return screen;
}

void top_screen_close(struct top_screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->term);
	for (int kind = 0; kind < PANES; kind++)
		pane_release(&screen->panes[kind]);
	free(screen);
}

/* ---- drawing ---- */

/* Without colours trouble is bold. */
static attr_t look_of(const struct top_screen *screen, enum pane_colour colour)
{
	switch (colour) {
	case PANE_DIM:
		return A_DIM;
	case PANE_WARN:
	case PANE_BAD:
		return screen->colours ? (attr_t)COLOR_PAIR(colour) | A_BOLD : A_BOLD;
	default:
		return A_NORMAL;
	}
}

static void line(int y, attr_t look, const char *text)
{
	attrset(look);
	mvaddnstr(y, 0, text, COLS);
	if (look & A_REVERSE)
		for (int x = (int)strlen(text); x < COLS; x++)
			addch(' ');
	attrset(A_NORMAL);
}

/* Writes a cell into its column, of that width (0: all that is left), and returns where the next
 * one begins. */
static int put(int y, int x, const struct pane_column *column, int width, const char *text,
	       attr_t look)
{
	bool left = column->left || !width;
	int length = (int)strlen(text), shown, at;

	if (width == PANE_LEFT_OUT)
		return x;
	if (x >= COLS)
		return COLS;
	if (!width || width > COLS - x)
		width = COLS - x;
	shown = length < width ? length : width;
	at = left ? x : x + width - shown;
	attrset(look);
	mvaddnstr(y, at, column->tail ? text + length - shown : text, shown);
	if (shown < length && shown)
		mvaddch(y, column->tail ? at : at + shown - 1, '+');
	attrset(A_NORMAL);
	return x + width + 1;
}

static void draw_pane(const struct top_screen *screen, const struct pane *pane, int y, int lines,
		      bool chosen)
{
	const int sorted = screen->column[pane - screen->panes] < 0
				   ? pane->sort
				   : screen->column[pane - screen->panes];
	size_t from = chosen ? screen->top : 0;
	char title[120];
	int x = 0;

	snprintf(title, sizeof(title), "%s%s (%zu)%s%s", chosen ? "* " : "  ", pane->title,
		 pane->rows.len, chosen && *screen->filter ? "  filter: " : "",
		 chosen ? screen->filter : "");
	line(y, A_BOLD, title);
	for (int i = 0; i < pane->count && lines > 1; i++)
		x = put(y + 1, x, &pane->columns[i], pane_width(pane, i, COLS),
			pane->columns[i].head, i == sorted ? A_UNDERLINE | A_BOLD : A_UNDERLINE);
	if (!pane->rows.len && lines > 2)
		line(y + 2, A_DIM,
		     *screen->filter ? "no row has that text"
		     : pane->empty   ? pane->empty
				     : "");
	for (int row = 0; row < lines - 2 && from + row < pane->rows.len; row++) {
		const struct pane_cell *cells = pane->rows.data[from + row].cells;

		x = 0;
		for (int i = 0; i < pane->count && (!i || !cells[i - 1].spans); i++)
			x = put(y + 2 + row, x, &pane->columns[i],
				cells[i].spans ? 0 : pane_width(pane, i, COLS), cells[i].text,
				look_of(screen, cells[i].colour));
	}
}

static void draw_help(const struct top_screen *screen)
{
	const char *const lines[] = {
		"1..9, Tab  ranks, paths, pairs, functions, call sites, stuck, NICs, errors,",
		screen->named ? "           tracer; 0: nodes" : "           tracer",
		"< >        sort by the column to the left or right",
		"r          reverse the order",
		"/          filter: rows that contain a text; Enter ends it, Esc removes it",
		"Up Down    scroll; so do PgUp, PgDn and Home",
		"space      freeze, or continue",
		screen->named ? "w          write captures of the next 10 s on all nodes"
			      : "w          write a capture of the next 10 s",
		"q          quit",
		"",
		"MPI, WAIT  share of the last 64 samples in which the first thread was in an MPI",
		"           call, and in one that awaits an operation",
		">=         at least: data came from ranks that are not traced, a call began",
		"           before it was first seen, or a budget has taken probes away: rates",
		"           are of the watched time, in which probes slow a job that mainly",
		"           communicates",
		"? -        not known; does not apply",
		screen->named ? "Dim rows are old: their node is late." : "",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		line(HEAD + 1 + (int)i, A_NORMAL, lines[i]);
}

static void draw_foot(const struct top_screen *screen)
{
	char text[240];

	if (screen->typing)
		snprintf(text, sizeof(text), "filter: %s_", screen->filter);
	else
		snprintf(
			text, sizeof(text), "%s%s%s", screen->frozen ? "FROZEN  " : "",
			*screen->note ? screen->note
			: screen->named
				? "0-9 panes  < > sort  r reverse  / filter  space freeze  w write  ? help  q"
				: "1-9 panes  < > sort  r reverse  / filter  space freeze  w write  ? help  q",
			"");
	line(LINES - 1, A_REVERSE, text);
}

static void draw_head(const struct top_screen *screen)
{
	const int behind = (int)strlen(screen->head.who) + 2, room = COLS - behind;
	const char *trouble = screen->head.trouble;

	if ((int)strlen(trouble) > room)
		trouble = screen->head.troubles;
	line(0, A_BOLD, screen->head.who);
	line(1, A_NORMAL, screen->head.much);
	attrset(look_of(screen, PANE_BAD));
	if (room > 0)
		mvaddnstr(0, behind, trouble, room);
	if (room > 0 && (int)strlen(trouble) > room)
		mvaddch(0, COLS - 1, '+');
	attrset(A_NORMAL);
}

static void draw(struct top_screen *screen)
{
	int room = LINES - HEAD - FOOT, shown = room / PANE_LEAST, y = HEAD;

	erase();
	draw_head(screen);
	shown = shown < 1 ? 1 : shown > panes_of(screen) ? panes_of(screen) : shown;
	if (screen->help)
		draw_help(screen);
	for (int i = 0; i < shown && !screen->help; i++) {
		int lines = room / shown + (i < room % shown);

		if (screen->any)
			draw_pane(screen, &screen->panes[(screen->pane + i) % panes_of(screen)], y,
				  lines, !i);
		y += lines;
	}
	draw_foot(screen);
	refresh();
}

static void arrange(struct top_screen *screen)
{
	for (int kind = 0; kind < PANES; kind++) {
		struct pane *pane = &screen->panes[kind];

		if (!pane->count)
			continue;
		if (screen->column[kind] < 0)
			pane_sort(pane, pane->sort, pane->up);
		else
			pane_sort(pane, screen->column[kind], screen->up[kind]);
	}
}

void top_screen_show(struct top_screen *screen, const struct top_nodes *nodes, const char *note)
{
	screen->named = nodes->named;
	snprintf(screen->note, sizeof(screen->note), "%s", note ? note : "");
	if (!screen->frozen) {
		release_panes(screen);
		for (int kind = 0; kind < panes_of(screen); kind++) {
			pane_fill(&screen->panes[kind], kind, nodes);
			pane_filter(&screen->panes[kind],
				    kind == (int)screen->pane ? screen->filter : "");
		}
		arrange(screen);
		pane_head(nodes, &screen->head);
		screen->any = true;
	}
	draw(screen);
}

/* ---- keys ---- */

static void choose(struct top_screen *screen, int kind)
{
	screen->pane = (kind + panes_of(screen)) % panes_of(screen);
	screen->top = 0;
	screen->filter[0] = '\0';
}

static void sort_by(struct top_screen *screen, int step)
{
	const struct pane *pane = &screen->panes[screen->pane];
	int column = screen->column[screen->pane];

	if (!pane->count)
		return;
	if (column < 0) {
		column = pane->sort;
		screen->up[screen->pane] = pane->up;
	}
	do
		column = (column + step + pane->count) % pane->count;
	while (pane_width(pane, column, COLS) == PANE_LEFT_OUT && step);
	screen->column[screen->pane] = column;
	arrange(screen);
}

static void reverse(struct top_screen *screen)
{
	sort_by(screen, 0);
	screen->up[screen->pane] = !screen->up[screen->pane];
	arrange(screen);
}

static void scroll_by(struct top_screen *screen, long rows)
{
	const size_t count = screen->panes[screen->pane].rows.len;
	long top = (long)screen->top + rows;

	screen->top = top < 0 ? 0 : top < (long)count ? (size_t)top : count ? count - 1 : 0;
}

static void type(struct top_screen *screen, int key)
{
	size_t length = strlen(screen->filter);

	if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		screen->typing = false;
	} else if (key == 27) {
		screen->typing = false;
		screen->filter[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && length) {
		screen->filter[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length < sizeof(screen->filter) - 1) {
		screen->filter[length] = (char)key;
		screen->filter[length + 1] = '\0';
	}
	/* rows that are filtered out come back with the next interval */
	pane_filter(&screen->panes[screen->pane], screen->filter);
	screen->top = 0;
}

static enum top_wish press(struct top_screen *screen, int key)
{
	if (screen->typing) {
		type(screen, key);
		return TOP_NOTHING;
	}
	if (key != '?' && key != KEY_RESIZE && screen->help) {
		screen->help = false;
		return key == 'q' ? TOP_QUIT : TOP_NOTHING;
	}
	if (key >= '1' && key < '1' + PANE_NODES)
		choose(screen, key - '1');
	if (key == '0' && screen->named)
		choose(screen, PANE_NODES);
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case 'w':
		return TOP_WRITE;
	case '\t':
		choose(screen, screen->pane + 1);
		break;
	case KEY_BTAB:
		choose(screen, (int)screen->pane - 1);
		break;
	case '<':
	case ',':
	case KEY_LEFT:
		sort_by(screen, -1);
		break;
	case '>':
	case '.':
	case KEY_RIGHT:
		sort_by(screen, 1);
		break;
	case 'r':
		reverse(screen);
		break;
	case '/':
		screen->typing = true;
		break;
	case ' ':
	case 'p':
		screen->frozen = !screen->frozen;
		break;
	case '?':
	case 'h':
		screen->help = !screen->help;
		break;
	case KEY_UP:
		scroll_by(screen, -1);
		break;
	case KEY_DOWN:
		scroll_by(screen, 1);
		break;
	case KEY_PPAGE:
		scroll_by(screen, -(LINES - HEAD - FOOT - 2));
		break;
	case KEY_NPAGE:
		scroll_by(screen, LINES - HEAD - FOOT - 2);
		break;
	case KEY_HOME:
		screen->top = 0;
		break;
	}
	return TOP_NOTHING;
}

enum top_wish top_screen_keys(struct top_screen *screen)
{
	enum top_wish wish = TOP_NOTHING;
	bool any = false;
	int key;

	while (wish == TOP_NOTHING && (key = getch()) != ERR) {
		wish = press(screen, key);
		any = true;
	}
	if (any)
		draw(screen);
	return wish;
}
