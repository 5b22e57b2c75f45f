import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** What is said aloud of new rows, at most so often. */
const SAYING_MS = 10_000;

export interface NewRows<Row> {
  /** Without those that wait. */
  readonly shown: readonly Row[];
  readonly newCount: number;
  /** What a screen reader is told. */
  readonly said: string;
  show(): void;
  /** Of what stands above the first row. */
  readonly topRef: RefObject<HTMLDivElement | null>;
}

/**
 * Rows with the newest first, which hold still while their reader has scrolled away from the first or has marked a text.
 * @param at.subject of what the rows are: of another one they are shown at once.
 */
export function useNewRows<Row>(
  rows: readonly Row[],
  at: { readonly subject: string; readonly keyOf: (row: Row) => string | number },
): NewRows<Row> {
  const topRef = useRef<HTMLDivElement | null>(null);
  const [held, setHeld] = useState({ subject: at.subject, rows });
  const isAway = useCallback((): boolean => {
    const content = document.getElementById('content');
    const top = topRef.current;
    if (content === null || top === null) return false;
    const selection = document.getSelection();
    const isMarking =
      selection !== null &&
      !selection.isCollapsed &&
      top.parentElement?.contains(selection.anchorNode) === true;
    return isMarking || top.getBoundingClientRect().bottom < content.getBoundingClientRect().top;
  }, []);
  const isHeld = held.subject === at.subject && held.rows !== rows && held.rows.length > 0;
  const shown = isHeld ? held.rows : rows;
  const { subject } = at;
  useLayoutEffect(() => {
    const settle = (): void => {
      if (!isAway()) {
        setHeld((before) =>
          before.rows === rows && before.subject === subject ? before : { subject, rows },
        );
      }
    };
    settle();
    document.addEventListener('scroll', settle, true);
    document.addEventListener('selectionchange', settle);
    return () => {
      document.removeEventListener('scroll', settle, true);
      document.removeEventListener('selectionchange', settle);
    };
  }, [rows, subject, isAway]);
  const known = new Set(shown.map(at.keyOf));
  const newCount = isHeld ? rows.filter((row) => !known.has(at.keyOf(row))).length : 0;
  const said = useSeldom(newCount === 0 ? '' : `${newCount} new`);
  return {
    ...{ shown, newCount, said, topRef },
    show() {
      document.getSelection()?.removeAllRanges();
      topRef.current?.scrollIntoView({ block: 'center' });
      setHeld({ subject, rows });
    },
  };
}

/** The same text, changed at most every ten seconds. */
function useSeldom(text: string): string {
  const [said, setSaid] = useState(text);
  const saidMs = useRef(0);
  useEffect(() => {
    if (text === said) return undefined;
    const announce = (): void => {
      saidMs.current = performance.now();
      setSaid(text);
    };
    const timer = setTimeout(announce, Math.max(0, saidMs.current + SAYING_MS - performance.now()));
    return () => clearTimeout(timer);
  }, [text, said]);
  return said;
}
