import { useEffect, useRef } from 'react';
import { refreshMs } from '../../../components/explore/time-picker.js';

/** Calls `refresh` at the interval in `text` while the page is visible. */
export function useRefresh(text: string | undefined, refresh: () => void): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const ms = refreshMs(text);
    if (ms === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [text]);
}
