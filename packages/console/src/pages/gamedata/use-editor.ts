import { type EditorSession, fetchEditorSession } from '@plinth/console-core/api/server.js';
import { useQuery } from '@tanstack/react-query';

type Scope = EditorSession['scopes'][number];

/** Returns the permissions of this tab's token in the editor. */
export function useEditor() {
  const session = useQuery({
    queryKey: ['gamedata', 'session'],
    queryFn: () => fetchEditorSession(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  /** Returns the reason why a control is disabled; `undefined` if the token has the scope. */
  const missing = (scope: Scope): string | undefined =>
    session.data === undefined || session.data.scopes.includes(scope)
      ? undefined
      : `Your token does not have the scope ${scope}`;
  return { session, missing };
}
