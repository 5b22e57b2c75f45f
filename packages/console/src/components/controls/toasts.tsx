import { useSyncExternalStore } from 'react';

const SHOWN_MS = 5000;
const MAX_COUNT = 4;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
}

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a confirmation or an error for five seconds. */
export function toast(text: string, isBad = false): void {
  const id = ++lastId;
  set([...toasts, { id, text, isBad }].slice(-MAX_COUNT));
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), SHOWN_MS);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isBad }) => (
        <div key={id} className={`toast ${isBad ? 'bad' : ''}`}>
          {text}
        </div>
      ))}
    </div>
  );
}
