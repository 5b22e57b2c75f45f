import { Problem } from '@plinth/console-core/api/problem.js';
import { CopyButton } from './copy-button.js';

/** Shows the server's error message, its status, and the request as a curl command. */
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
          <CopyButton text={problem.curl} label="Copy as curl" showsLabel />
        )}
      </div>
    </div>
  );
}

/** Shows the error of a failed query, with a retry button. */
export const QueryProblem = (props: {
  readonly of: { readonly isError: boolean; readonly error: unknown; refetch(): unknown };
}) =>
  props.of.isError && (
    <ProblemNote error={props.of.error} onRetry={() => void props.of.refetch()} />
  );
