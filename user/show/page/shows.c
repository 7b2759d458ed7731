// SPDX-License-Identifier: BSD-3-Clause
/* Which facts the page shows: those that its filter lets through. */
#include "show/page/internal.h"

bool page_shows_call(struct page *page, const struct fact_call *call)
{
	page_hosts_see(&page->hosts, call->process, call->start, call->end);
	return page_hosts_selected(&page->hosts, call->process) &&
	       (!page->filtering || filter_call(page->options.filter, call));
}

bool page_shows_op(struct page *page, const struct fact_op *op)
{
	page_hosts_see(&page->hosts, op->process, op->start, op->end);
	return page_hosts_selected(&page->hosts, op->process) &&
	       (!page->filtering || filter_op(page->options.filter, op));
}

bool page_shows_transfer(struct page *page, const struct fact_transfer *transfer)
{
	page_hosts_see(&page->hosts, transfer->process, transfer->start, transfer->end);
	return page_hosts_selected(&page->hosts, transfer->process) &&
	       (!page->filtering || filter_transfer(page->options.filter, transfer));
}

bool page_shows_message(const struct page *page, const struct fact_message *message)
{
	return (page_hosts_selected(&page->hosts, message->src) ||
		page_hosts_selected(&page->hosts, message->dst)) &&
	       (!page->filtering || filter_message(page->options.filter, message));
}
