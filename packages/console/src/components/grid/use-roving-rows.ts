import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';

/** Returns the attribute for an element that contains the controls of a row. */
export const rowMark = (row: number) => ({ 'data-row': row });

export interface RovingRows {
  /** Refers to the element around the rows, which also gets the handlers. */
  readonly box: (element: HTMLElement | null) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onFocus: (event: FocusEvent) => void;
  /** Returns 0 for the only tab stop of the list: the first control of the current row. */
  readonly tabIndexOf: (row: number, control?: number) => 0 | -1;
}

/**
 * Makes a list with controls in its rows one tab stop. The arrow keys, Home and End move between rows, and
 * Left and Right between the controls of a row. In a horizontal list, each control is a row.
 */
export function useRovingRows(options: {
  readonly count: number;
  readonly isHorizontal?: boolean;
  /** In a virtual list, the rendered rows, and a function that renders another row. */
  readonly rendered?: readonly [first: number, last: number];
  readonly scrollTo?: (row: number) => void;
}): RovingRows {
  const { count, isHorizontal = false, rendered = [0, count - 1], scrollTo } = options;
  const [current, setCurrent] = useState(0);
  const element = useRef<HTMLElement | null>(null);
  /** The control to focus as soon as its row is rendered. */
  const wanted = useRef<{ readonly row: number; readonly control: number } | undefined>(undefined);
  const [first, last] = rendered;
  const active = Math.max(first, Math.min(current, last));
  const controlsOf = (row: number): readonly HTMLElement[] => [
    ...(element.current?.querySelectorAll<HTMLElement>(`[data-row="${row}"] button`) ?? []),
  ];
  const focusWanted = (): void => {
    if (wanted.current === undefined) return;
    const controls = controlsOf(wanted.current.row);
    const control = controls[Math.min(wanted.current.control, controls.length - 1)];
    if (control === undefined) return;
    wanted.current = undefined;
    control.focus();
  };
  useEffect(focusWanted);
  return {
    box: (found) => {
      element.current = found;
    },
    onFocus: ({ target }) => {
      const row = target.closest('[data-row]')?.getAttribute('data-row');
      if (row) setCurrent(Number(row));
    },
    onKeyDown: (event) => {
      const mark = (event.target as Element).closest('[data-row]')?.getAttribute('data-row');
      if (!mark || event.ctrlKey || event.metaKey || event.altKey) return;
      const row = Number(mark);
      const controls = controlsOf(row);
      const control = controls.findIndex((each) => each === document.activeElement);
      const step = (isHorizontal ? HORIZONTAL : VERTICAL)[event.key];
      const next =
        step === undefined
          ? { Home: 0, End: count - 1 }[event.key]
          : Math.max(0, Math.min(count - 1, row + step));
      const aside = isHorizontal ? undefined : HORIZONTAL[event.key];
      if (next === undefined && aside === undefined) return;
      event.preventDefault();
      if (next === undefined) controls[control + (aside ?? 0)]?.focus();
      else {
        wanted.current = { row: next, control: Math.max(0, control) };
        setCurrent(next);
        scrollTo?.(next);
        focusWanted();
      }
    },
    tabIndexOf: (row, control = 0) => (row === active && control === 0 ? 0 : -1),
  };
}

const VERTICAL: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
const HORIZONTAL: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };
