import type { ErrorComponentProps } from '@tanstack/react-router';
import { ProblemNote } from '../controls/problem-note.js';

/** In the place of one page that cannot be shown; the others stay. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  return (
    <div className="page">
      <h1 tabIndex={-1}>This page cannot be shown</h1>
      <ProblemNote error={error} onRetry={reset} />
    </div>
  );
}
