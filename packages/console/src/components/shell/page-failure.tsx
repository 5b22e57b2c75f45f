import type { ErrorComponentProps } from '@tanstack/react-router';
import { ProblemNote } from '../controls/problem-note.js';

/** Replaces a page that failed to render; the other pages still work. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  return (
    <div className="page">
      <h1 tabIndex={-1}>This page failed to load</h1>
      <ProblemNote error={error} onRetry={reset} />
    </div>
  );
}
