import { useEffect, useRef } from 'react';

/** Handles the page's keys: cancel, explain, and move through time. */
export function useExploreKeys(options: {
  readonly cancel: () => void;
  readonly explain: () => void;
  readonly move: (direction: -1 | 1) => void;
}) {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === '.') latest.current.cancel();
      if ((event.ctrlKey || event.metaKey) && event.shiftKey && event.key === 'Enter')
        latest.current.explain();
      if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return;
      event.preventDefault();
      latest.current.move(event.key === 'ArrowLeft' ? -1 : 1);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
