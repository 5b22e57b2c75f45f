import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Minimum interval between two screen reader announcements. */
const ANNOUNCE_INTERVAL_MS = 10_000;

export interface NewRows<Row> {
  /** The rows without the new ones that are not shown yet. */
  readonly shown: readonly Row[];
  readonly newCount: number;
  /** The announcement for screen readers. */
  readonly announcement: string;
  show(): void;
  /** Refers to the element above the first row. */
  readonly topRef: RefObject<HTMLDivElement | null>;
}

/**
 * Returns the rows, newest first. New rows are held back while the user has scrolled down or
 * selected text.
 * @param options.subject identifies the list: rows of another list are shown immediately.
 */
export function useNewRows<Row>(
  rows: readonly Row[],
  options: { readonly subject: string; readonly keyOf: (row: Row) => string | number },
): NewRows<Row> {
  const topRef = useRef<HTMLDivElement | null>(null);
  const [held, setHeld] = useState({ subject: options.subject, rows });
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
  const isHeld = held.subject === options.subject && held.rows !== rows && held.rows.length > 0;
  const shown = isHeld ? held.rows : rows;
  const { subject } = options;
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
  const known = new Set(shown.map(options.keyOf));
  const newCount = isHeld ? rows.filter((row) => !known.has(options.keyOf(row))).length : 0;
  const announcement = useSeldom(newCount === 0 ? '' : `${newCount} new`);
  return {
    ...{ shown, newCount, announcement, topRef },
    show() {
      document.getSelection()?.removeAllRanges();
      topRef.current?.scrollIntoView({ block: 'center' });
      setHeld({ subject, rows });
    },
  };
}

/** Returns the text, updated at most every ten seconds. */
function useSeldom(text: string): string {
  const [announced, setAnnounced] = useState(text);
  const announcedMs = useRef(0);
  useEffect(() => {
    if (text === announced) return undefined;
    const announce = (): void => {
      announcedMs.current = performance.now();
      setAnnounced(text);
    };
    const timer = setTimeout(
      announce,
      Math.max(0, announcedMs.current + ANNOUNCE_INTERVAL_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, announced]);
  return announced;
}
