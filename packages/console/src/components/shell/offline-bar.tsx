import { connection } from '@plinth/console-core/api/connection.js';
import { useSyncExternalStore } from 'react';

/** The bar above every page: the server is unreachable, or a newer console is available. The page never reloads automatically. */
export function OfflineBar({ isNewBuild }: { readonly isNewBuild: boolean }) {
  const lostMs = useSyncExternalStore(connection.subscribe, connection.lostSince);
  if (lostMs !== undefined) {
    return (
      <div className="bar bad" role="status">
        The server has been unreachable since {new Date(lostMs).toLocaleTimeString()}. Your input is
        kept; this page retries automatically.
      </div>
    );
  }
  if (!isNewBuild) return null;
  return (
    <div className="bar" role="status">
      The server was updated.
      <button type="button" className="button small" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  );
}
