import {
  type App,
  fetchApps,
  fetchDeliveries,
  fetchDelivery,
  MAX_APPS,
  publish,
} from '@plinth/console-core/api/webhooks.js';
import { parseAbsolute } from '@plinth/console-core/lib/time/time-text.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import {
  knownEvents,
  samplePayload,
  whyNotReceived,
} from '@plinth/console-core/lib/webhooks/event-targets.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { useTask } from '../../components/controls/use-task.js';
import { AppFrame } from './app-frame.js';

/** Publishes an event, for tests and repairs. */
export function PublishPage() {
  return <AppFrame tab="/webhooks/$app/publish">{(app) => <PublishForm app={app} />}</AppFrame>;
}

function PublishForm({ app }: { readonly app: App }) {
  const id = String(app.id);
  const apps = useQuery({ queryKey: ['webhooks', 'apps'], queryFn: fetchApps });
  const [event, setEvent] = useState(app.hook?.events.find((each) => !each.includes('*')) ?? '');
  const [action, setAction] = useState('');
  const [isToAll, setIsToAll] = useState(false);
  const [typed, setTyped] = useState<string | undefined>();
  const [time, setTime] = useState('');
  const [idempotencyKey, setIdempotencyKey] = useState('');
  const [guid, setGuid] = useState('');
  const { run, error, isBusy } = useTask();
  const last = useQuery({
    queryKey: ['webhooks', 'last-payload', id, event.trim()],
    queryFn: () => fetchLastPayload(id, event.trim()),
    enabled: event.trim() !== '',
  });
  const seed = last.data?.payload ?? samplePayload(event.trim(), action.trim());
  const payload = typed ?? JSON.stringify(seed, null, 2);
  const parsed = parse(payload);
  const deliverAtMs = time.trim() === '' ? undefined : parseAbsolute(time);
  const isTimeValid = time.trim() === '' || deliverAtMs !== undefined;
  const canPublish =
    event.trim() !== '' && parsed !== undefined && isTimeValid && !last.isLoading && !isBusy;
  const send = () =>
    run(async () => {
      const made = await publish({
        event: event.trim(),
        action: action.trim(),
        payload: parsed,
        app: isToAll ? undefined : app.id,
        deliverAt: deliverAtMs === undefined ? undefined : new Date(deliverAtMs).toISOString(),
        idempotencyKey: idempotencyKey.trim(),
      });
      setGuid(made.guid);
      const count = countOf(made.targets.length, 'app');
      toast(
        made.duplicate
          ? 'This idempotency key was already used, so nothing was published'
          : `Event published to ${count}`,
      );
    });
  return (
    <form
      className="card stack form-card"
      aria-label="Publish"
      onSubmit={(submit) => {
        submit.preventDefault();
        if (canPublish) void send();
      }}
    >
      <TextField
        label="Event"
        isCode
        value={event}
        onChange={setEvent}
        placeholder="push"
        choices={knownEvents(apps.data ?? [app])}
      />
      <TextField label="Action" isCode value={action} onChange={setAction} placeholder="none" />
      <fieldset className="field choice">
        <legend className="label">Send to</legend>
        <label className="row">
          <input type="radio" checked={!isToAll} onChange={() => setIsToAll(false)} />
          {app.name}
        </label>
        <label className="row">
          <input type="radio" checked={isToAll} onChange={() => setIsToAll(true)} />
          All subscribed apps
        </label>
      </fieldset>
      <QueryProblem of={apps} />
      <Targets
        apps={isToAll ? (apps.data ?? []) : [app]}
        isToAll={isToAll}
        event={event.trim()}
        action={action.trim()}
      />
      <div className="field">
        <label htmlFor="payload">Payload (JSON)</label>
        <textarea
          id="payload"
          className="input mono payload"
          spellCheck={false}
          value={payload}
          aria-invalid={parsed === undefined}
          aria-describedby="payload-hint"
          onChange={(change) => setTyped(change.target.value)}
        />
        <span id="payload-hint" className={parsed === undefined ? 'field-error' : 'hint'}>
          {parsed === undefined
            ? 'Invalid payload; enter a JSON object.'
            : `${typed !== undefined ? 'Edited.' : last.data ? `The last payload of ${event.trim()} to this app.` : 'A sample.'} If the payload has no action, the server adds it (setting webhooks.enrich_payload).`}
        </span>
      </div>
      <TextField
        label="Deliver at (UTC)"
        isCode
        value={time}
        onChange={setTime}
        placeholder="now"
        hint="Optional, up to 30 days ahead, for example 2026-12-24 18:00"
        mistake={isTimeValid ? undefined : 'Invalid time; use one like 2026-12-24 18:00.'}
      />
      <TextField
        label="Idempotency key"
        isCode
        value={idempotencyKey}
        onChange={setIdempotencyKey}
        maxLength={255}
        hint="Optional. The server publishes an event with the same key only once a day."
      />
      {error !== undefined && <ProblemNote error={error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={!canPublish}>
          Publish
        </button>
        {typed !== undefined && (
          <button type="button" className="button" onClick={() => setTyped(undefined)}>
            {last.data ? 'Use the last payload' : 'Use the sample'}
          </button>
        )}
        {guid !== '' && (
          <Link to="/webhooks/$app" params={{ app: id }} search={{ guid }}>
            View its deliveries
          </Link>
        )}
      </div>
    </form>
  );
}

const MAX_SHOWN_TARGETS = 10;

/** The apps that will receive the event. */
function Targets(props: {
  readonly apps: readonly App[];
  readonly isToAll: boolean;
  readonly event: string;
  readonly action: string;
}) {
  const { apps, isToAll, event, action } = props;
  if (event === '') return null;
  const targets = apps.filter((each) => whyNotReceived(each, event, action) === undefined);
  const names = targets.slice(0, MAX_SHOWN_TARGETS).map(({ name }) => name);
  const others = targets.length - names.length;
  const isCut = isToAll && apps.length === MAX_APPS;
  const [only] = apps;
  const reason = !isToAll && only && whyNotReceived(only, event, action);
  return (
    <p className={targets.length === 0 ? 'note warn' : 'note'} role="status">
      {targets.length === 0
        ? `No app will receive this event${reason ? `: ${only.name} is ${reason}` : ''}.`
        : `${countOf(targets.length, 'app')} will receive this event: ${names.join(', ')}${others > 0 ? ` and ${countText(others)} more` : ''}.`}
      {isCut && ` Only the first ${MAX_APPS} apps are counted.`}
    </p>
  );
}

/** Returns the payload of the newest delivery of an event, `null` without one. */
async function fetchLastPayload(
  app: string,
  event: string,
): Promise<{ readonly payload: object } | null> {
  const { deliveries } = await fetchDeliveries(app, { event });
  const [last] = deliveries;
  if (last === undefined) return null;
  const { payload } = (await fetchDelivery(app, String(last.id))).request;
  return typeof payload === 'object' && payload !== null ? { payload } : null;
}

/** Returns `undefined` unless the text is a JSON object. */
function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
