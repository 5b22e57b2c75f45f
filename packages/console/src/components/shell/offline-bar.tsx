import { useSyncExternalStore } from 'react';
import { connection } from '../../api/connection.js';

/** Above every page: that nobody answers, or that a newer console is there. Nothing is reloaded by itself. */
export function OfflineBar({ isNewBuild }: { readonly isNewBuild: boolean }) {
  const lostMs = useSyncExternalStore(connection.subscribe, connection.lostSince);
  if (lostMs !== undefined) {
    return (
      <div className="bar bad" role="status">
        No answer from the server since {new Date(lostMs).toLocaleTimeString()}. What you typed
        stays; this page asks again by itself.
      </div>
    );
  }
  if (!isNewBuild) return null;
  return (
    <div className="bar" role="status">
      The server was updated.
      <button type="button" className="button small" onClick={() => location.reload()}>
        Reload for the new console
      </button>
    </div>
  );
}
