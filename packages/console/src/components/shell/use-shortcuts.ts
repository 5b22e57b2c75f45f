import { placesOf } from '@plinth/console-core/lib/places.js';
import { hasLetterKeys } from '@plinth/console-core/lib/storage/letter-keys.js';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const LETTER_WAIT_MS = 1200;
const FOCUSED_BY: Readonly<Record<string, string>> = { '/': '[data-find]', v: '[data-result]' };
/** Shortcuts of every page. While a field has the focus, only those with Ctrl work. */
export function useShortcuts(options: {
  readonly isOff: boolean;
  readonly services: readonly string[];
  readonly openPalette: () => void;
  readonly openHelp: () => void;
}): void {
  const navigate = useNavigate();
  const client = useQueryClient();
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    let goUntilMs = 0;
    const onKey = (event: KeyboardEvent): void => {
      const { isOff, services, openPalette, openHelp } = latest.current;
      if (isOff || event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (!hasLetterKeys()) return;
      if (performance.now() < goUntilMs) {
        goUntilMs = 0;
        const place = placesOf(services).find(({ letter }) => letter === event.key);
        if (place !== undefined) {
          event.preventDefault();
          void navigate({ to: place.path });
        }
        return;
      }
      if (event.key === 'g') goUntilMs = performance.now() + LETTER_WAIT_MS;
      if (event.key === '?') openHelp();
      if (event.key === 'r') void client.invalidateQueries();
      if (event.key === 'x') selectRow();
      if (event.key === 'j') focusRow(1);
      if (event.key === 'k') focusRow(-1);
      if (event.key === '[') openNeighbor('previous');
      if (event.key === ']') openNeighbor('next');
      const selector = FOCUSED_BY[event.key];
      const place = selector && document.querySelector<HTMLElement>(selector);
      if (place) {
        event.preventDefault();
        place.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, client]);
}

/** Adds a shortcut for one page, which takes precedence over the same key of all pages. */
export function useLetterKey(key: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isModified = event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== key || isModified || isTyping(event) || !hasLetterKeys()) return;
      if (document.querySelector('[role=dialog]') !== null) return;
      event.preventDefault();
      latest.current();
    };
    // The capture phase precedes the listener for all pages.
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, [key]);
}

/** Toggles the checkbox of the row that contains the focus. */
function selectRow(): void {
  const row = document.activeElement?.closest('main table.list tbody tr');
  row?.querySelector<HTMLElement>('td.select input')?.click();
}

/** Moves the focus to the link or button of the next or previous row of the page's lists. */
function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll('main table.list tbody tr')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[next]?.querySelector<HTMLElement>('a, button')?.focus();
}

/** Opens the item before or after the shown one, with the page's link or from the list that marks the shown item. */
function openNeighbor(side: 'previous' | 'next'): void {
  const row = document.querySelector('main table.list tr.current');
  const beside = side === 'next' ? row?.nextElementSibling : row?.previousElementSibling;
  const link = document.querySelector(`[data-${side}]`) ?? beside?.querySelector('a');
  if (link instanceof HTMLElement) link.click();
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
