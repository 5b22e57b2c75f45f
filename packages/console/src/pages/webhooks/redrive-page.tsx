import {
  type App,
  fetchDeliveries,
  fetchQueue,
  type Redrive,
  redrive,
} from '@plinth/console-core/api/webhooks.js';
import { resolveRange } from '@plinth/console-core/lib/time/time-range.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import {
  deliveryCount,
  isDelivered,
  resultText,
} from '@plinth/console-core/lib/webhooks/delivery-text.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { useTask } from '../../components/controls/use-task.js';
import { TimePicker } from '../../components/explore/time-picker.js';
import { useSearchParams } from '../../components/search/use-search-params.js';
import { AppFrame } from './app-frame.js';

const DAY = { from: 'now-24h', to: 'now' };
const PROGRESS_MS = 1000;

/** Redelivers the failures of a time range, for example after an outage of the receiver. */
export function RedrivePage() {
  return <AppFrame tab="/webhooks/$app/redrive">{(app) => <RedriveForm app={app} />}</AppFrame>;
}

function RedriveForm({ app }: { readonly app: App }) {
  const id = String(app.id);
  const [params, setParams] = useSearchParams();
  const { event = '', from = DAY.from, to = DAY.to } = params;
  const kind = params['kind'] === 'dead' ? 'dead' : 'failed';
  const [preview, setPreview] = useState<(Redrive & { readonly count: number }) | undefined>();
  const { run, error, isBusy } = useTask();
  const [startedCount, setStartedCount] = useState(0);
  const queue = useQuery({
    queryKey: ['webhooks', 'queue', id, 'redrive'],
    queryFn: () => fetchQueue(id),
    refetchInterval: startedCount > 0 ? PROGRESS_MS : false,
  });
  const pings = useQuery({
    queryKey: ['webhooks', 'deliveries', id, 'pings'],
    queryFn: () => fetchDeliveries(id, { event: 'ping' }),
  });
  const [ping] = pings.data?.deliveries ?? [];
  const go = (change: Record<string, string>) => {
    setPreview(undefined);
    setParams(change);
  };
  const findMatching = () =>
    run(async () => {
      const range = resolveRange({ from, to }, Date.now());
      if (range === undefined) throw new Error('Invalid time range; use a start before the end.');
      const [since, until] = [range.fromMs, range.toMs].map((ms) => new Date(ms).toISOString());
      const request = { kind, event, since: since ?? '', until: until ?? '' } as const;
      const { matched } = await redrive(id, request, true);
      setPreview({ ...request, count: matched });
    });
  const start = (request: Redrive) =>
    run(async () => {
      const { queued } = await redrive(id, request, false);
      await queue.refetch();
      setStartedCount(queued);
      setPreview(undefined);
      toast(`${countOf(queued, 'redelivery').replace('ys', 'ies')} queued`);
    });
  const waiting = (queue.data?.pending ?? 0) + (queue.data?.leased ?? 0);
  return (
    <section className="card stack form-card" aria-label="Redrive">
      <p className="soft">
        A redrive redelivers events that were not delivered, oldest first. Events with a later
        success are skipped.
      </p>
      {ping !== undefined && !isDelivered(ping) && (
        <p className="note warn">
          The last ping failed ({resultText(ping)}). Send a ping before you redrive events.
        </p>
      )}
      <fieldset className="field choice">
        <legend className="label">Events</legend>
        <label className="row">
          <input type="radio" checked={kind === 'failed'} onChange={() => go({ kind: '' })} />
          Failed in a time range
        </label>
        <label className="row">
          <input type="radio" checked={kind === 'dead'} onChange={() => go({ kind: 'dead' })} />
          Dead: all attempts failed
        </label>
      </fieldset>
      {kind === 'failed' && (
        <>
          <TimePicker range={{ from, to }} onChange={(range) => go({ ...range })} />
          <TextField
            label="Event"
            isCode
            value={event}
            onChange={(next) => go({ event: next })}
            placeholder="all events"
          />
        </>
      )}
      {error !== undefined && <ProblemNote error={error} />}
      <div className="row">
        {preview === undefined ? (
          <button
            type="button"
            className="button primary"
            disabled={isBusy}
            onClick={() => void findMatching()}
          >
            Preview
          </button>
        ) : (
          <>
            <span role="status">
              <strong>{countOf(preview.count, 'event')}</strong> will be redelivered.
            </span>
            <button
              type="button"
              className="button primary"
              disabled={isBusy || preview.count === 0}
              onClick={() => void start(preview)}
            >
              Start
            </button>
            <button type="button" className="button" onClick={() => setPreview(undefined)}>
              Back
            </button>
          </>
        )}
      </div>
      {startedCount > 0 && (
        <p role="status">
          {waiting === 0
            ? 'All queued deliveries have been attempted.'
            : `${deliveryCount(waiting)} queued.`}{' '}
          <Link to="/webhooks/$app" params={{ app: id }} search={{ hours: '1' }}>
            View deliveries
          </Link>
        </p>
      )}
    </section>
  );
}
