import { redeliver } from '@plinth/console-core/api/webhooks.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import { useRef, useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { useChanges } from '../../components/controls/use-changes.js';

/** At most ten requests a second. */
const PAUSE_MS = 100;

/** Redelivers the selected deliveries one after another, in their order of time. */
export function RedeliverSelected(props: {
  readonly app: string;
  readonly ids: readonly number[];
  /** Called for each queued delivery, so that a repeated attempt continues with the others. */
  readonly onQueued: (id: number) => void;
  readonly onClear: () => void;
}) {
  const { app, ids, onQueued, onClear } = props;
  const [isAsking, setIsAsking] = useState(false);
  const [queuedCount, setQueuedCount] = useState(0);
  const isStopped = useRef(false);
  const { changed } = useChanges('webhooks');
  if (ids.length === 0 && !isAsking) return null;
  const close = () => {
    isStopped.current = true;
    setIsAsking(false);
    setQueuedCount(0);
  };
  const run = async () => {
    isStopped.current = false;
    let count = 0;
    for (const id of [...ids].sort((a, b) => a - b)) {
      if (isStopped.current) break;
      await redeliver(app, id);
      onQueued(id);
      count++;
      setQueuedCount(count);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    close();
    await changed(`${countOf(count, 'redelivery').replace('ys', 'ies')} queued`);
  };
  return (
    <div className="row wrap" role="status">
      <strong>{countText(ids.length)} selected</strong>
      <button type="button" className="button small primary" onClick={() => setIsAsking(true)}>
        Redeliver selected …
      </button>
      <button type="button" className="button small" onClick={onClear}>
        Clear
      </button>
      {isAsking && (
        <FormDialog
          title="Redeliver selected deliveries"
          action="Redeliver"
          doing={`${countText(queuedCount)} queued …`}
          canAct
          act={run}
          onClose={close}
        >
          <p>
            {countOf(ids.length, 'delivery').replace('ys', 'ies')} will be sent once more, oldest
            first, up to ten per second. Choose “Cancel” to stop before the next delivery.
          </p>
        </FormDialog>
      )}
    </div>
  );
}
