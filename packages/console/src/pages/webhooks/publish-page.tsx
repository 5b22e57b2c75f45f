import {
  type App,
  fetchDeliveries,
  fetchDelivery,
  publish,
} from '@plinth/console-core/api/webhooks.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { useTask } from '../../components/controls/use-task.js';
import { AppFrame } from './app-frame.js';

/** Publishes an event to one app, for tests and repairs. */
export function PublishPage() {
  return <AppFrame tab="/webhooks/$app/publish">{(app) => <PublishForm app={app} />}</AppFrame>;
}

function PublishForm({ app }: { readonly app: App }) {
  const id = String(app.id);
  const subscribed = app.hook?.events.find((each) => each !== '*') ?? '';
  const [event, setEvent] = useState(subscribed);
  const [action, setAction] = useState('');
  const [payload, setPayload] = useState('{}');
  const [guid, setGuid] = useState('');
  const { run, error, isBusy } = useTask();
  const parsed = parse(payload);
  const fillLast = () =>
    run(async () => {
      const { deliveries } = await fetchDeliveries(id, { event });
      const [last] = deliveries;
      if (last === undefined) throw new Error(`No delivery of ${event} found.`);
      const { request } = await fetchDelivery(id, String(last.id));
      if (request.payload === null)
        throw new Error('The payload has been deleted after its retention period.');
      setAction(last.action ?? '');
      setPayload(JSON.stringify(request.payload, null, 2));
    });
  const send = () =>
    run(async () => {
      const made = await publish({ event, action, payload: parsed, app: app.id });
      setGuid(made.guid);
      toast(`Event published to ${countOf(made.targets.length, 'app')}`);
    });
  return (
    <form
      className="card stack form-card"
      aria-label="Publish"
      onSubmit={(submit) => {
        submit.preventDefault();
        if (event !== '' && parsed !== undefined && !isBusy) void send();
      }}
    >
      <TextField label="Event" isCode value={event} onChange={setEvent} placeholder="push" />
      <TextField label="Action" isCode value={action} onChange={setAction} placeholder="none" />
      <div className="field">
        <label htmlFor="payload">Payload (JSON)</label>
        <textarea
          id="payload"
          className="input mono payload"
          spellCheck={false}
          value={payload}
          aria-invalid={parsed === undefined}
          aria-describedby="payload-hint"
          onChange={(change) => setPayload(change.target.value)}
        />
        <span id="payload-hint" className={parsed === undefined ? 'field-error' : 'hint'}>
          {parsed === undefined
            ? 'Invalid payload; enter a JSON object.'
            : 'If the payload has no action, the server adds it (setting webhooks.enrich_payload).'}
        </span>
      </div>
      {error !== undefined && <ProblemNote error={error} />}
      <div className="row">
        <button
          type="submit"
          className="button primary"
          disabled={event === '' || parsed === undefined || isBusy}
        >
          Publish
        </button>
        <button
          type="button"
          className="button"
          disabled={event === '' || isBusy}
          onClick={() => void fillLast()}
        >
          Use the last payload
        </button>
        {guid !== '' && (
          <Link to="/webhooks/$app" params={{ app: id }} search={{ guid }}>
            View its deliveries
          </Link>
        )}
      </div>
    </form>
  );
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
