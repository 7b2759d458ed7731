// SPDX-License-Identifier: BSD-3-Clause
// A few alternatives next to each other, one of them chosen; arrow keys move between them.
export interface Alternative<T extends string> {
  value: T;
  label: string;
  title?: string;
}

interface Props<T extends string> {
  label: string;
  value: T;
  options: Alternative<T>[];
  onChange: (value: T) => void;
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function Choice<T extends string>({ label, value, options, onChange }: Props<T>) {
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = options.findIndex((option) => option.value === value);
    const next = (at + step + options.length) % options.length;
    onChange(options[next].value);
    const group = event.currentTarget as HTMLElement;
    (group.children[next] as HTMLElement).focus();
  };
  return (
    <div class="choice" role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map((option) => (
        <button
          type="button"
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          title={option.title}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
