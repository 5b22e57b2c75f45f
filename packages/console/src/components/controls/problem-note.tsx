import { Problem } from '../../api/problem.js';
import { CopyButton } from './copy-button.js';

/** What the server said, word for word, and how to ask it the same by hand. */
export function ProblemNote(props: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  const { error, onRetry } = props;
  const problem = error instanceof Problem ? error : undefined;
  return (
    <div className="note bad stack" role="alert">
      <pre className="mono">{error instanceof Error ? error.message : String(error)}</pre>
      <div className="row wrap">
        {problem !== undefined && problem.status !== 0 && (
          <span className="chip">status {problem.status}</span>
        )}
        {onRetry && (
          <button type="button" className="button small" onClick={onRetry}>
            Retry
          </button>
        )}
        {problem !== undefined && problem.curl !== '' && (
          <CopyButton text={problem.curl} label="Copy as curl" showsWord />
        )}
      </div>
    </div>
  );
}

/** The same of what was asked for, where that failed. */
export const QueryProblem = (props: {
  readonly of: { readonly isError: boolean; readonly error: unknown; refetch(): unknown };
}) =>
  props.of.isError && (
    <ProblemNote error={props.of.error} onRetry={() => void props.of.refetch()} />
  );
