import {
  type App,
  changeHook,
  type RetryPolicy,
  rotateSecret,
} from '@plinth/console-core/api/webhooks.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { durationText } from '@plinth/console-core/lib/units.js';
import { useState } from 'react';
import { Fact } from '../../components/controls/fact.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { SecretDialog } from '../../components/controls/secret-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { useTask } from '../../components/controls/use-task.js';
import { AppFrame } from './app-frame.js';
import { eventList, HookFields, isHookUrl } from './hook-fields.js';
import { RetryFields } from './retry-schedule.js';

/** The webhook settings of an app, and the rotation of its secret. */
export function ConfigurationPage() {
  return (
    <AppFrame tab="/webhooks/$app/configuration">{(app) => <HookEditor app={app} />}</AppFrame>
  );
}

/** The members that the form changes. */
const settingsOf = ({ hook }: App): string => {
  const { last_hour: _, ...settings } = hook ?? {};
  return JSON.stringify(settings);
};

/** Keeps what the user has typed when another user changes the webhook. */
function HookEditor({ app }: { readonly app: App }) {
  const [opened, setOpened] = useState(app);
  const [isEdited, setIsEdited] = useState(false);
  const isStale = settingsOf(opened) !== settingsOf(app);
  const load = () => {
    setOpened(app);
    setIsEdited(false);
  };
  if (isStale && !isEdited) load();
  return (
    <>
      {isStale && (
        <div className="note warn row wrap">
          Another user has changed this webhook. Saving replaces their change.
          <button type="button" className="button small" onClick={load}>
            Load their change
          </button>
        </div>
      )}
      <HookForm
        key={settingsOf(opened)}
        app={opened}
        onEdit={() => setIsEdited(true)}
        onSaved={() => setIsEdited(false)}
      />
    </>
  );
}

function HookForm(props: {
  readonly app: App;
  readonly onEdit: () => void;
  readonly onSaved: () => void;
}) {
  const { app, onEdit, onSaved } = props;
  const { hook } = app;
  const [retry, setRetry] = useState<RetryPolicy | null | undefined>(hook?.retry ?? null);
  const [url, setUrl] = useState(hook?.config.url ?? '');
  const [events, setEvents] = useState(hook?.events.join(', ') ?? '*');
  const [contentType, setContentType] = useState(hook?.config.content_type ?? 'json');
  const [isVerified, setIsVerified] = useState(hook?.config.insecure_ssl !== '1');
  const [isActive, setIsActive] = useState(hook?.active ?? true);
  const [isRotating, setIsRotating] = useState(false);
  const { run, error, isBusy } = useTask();
  const { changed } = useChanges('webhooks');
  const isUrlRight = isHookUrl(url);
  const canSave = isUrlRight && retry !== undefined && !isBusy;
  const save = () =>
    run(async () => {
      await changeHook(String(app.id), {
        url: url.trim(),
        events: eventList(events),
        content_type: contentType,
        insecure_ssl: isVerified ? '0' : '1',
        active: isActive,
        retry: retry ?? null,
      });
      onSaved();
      await changed('Webhook updated');
    });
  return (
    <form
      className="card stack form-card"
      aria-label="Configuration"
      onChange={onEdit}
      onSubmit={(submit) => {
        submit.preventDefault();
        if (canSave) void save();
      }}
    >
      <dl className="facts">
        <Fact name="Client id" value={app.client_id} />
        <Fact name="Ordering" value={hook?.ordering ?? 'none'} />
      </dl>
      <HookFields {...{ url, isUrlRight, events }} onUrl={setUrl} onEvents={setEvents} />
      <div className="field">
        <label htmlFor="content-type">Content type</label>
        <select
          id="content-type"
          className="input"
          value={contentType}
          onChange={(change) => setContentType(change.target.value)}
        >
          <option value="json">application/json</option>
          <option value="form">application/x-www-form-urlencoded</option>
        </select>
      </div>
      <RetryFields hook={hook} onChange={setRetry} />
      <label className="row">
        <input
          type="checkbox"
          checked={isVerified}
          onChange={(change) => setIsVerified(change.target.checked)}
        />
        Verify TLS certificates
      </label>
      {!isVerified && (
        <p className="note bad">
          Without verification, another server can receive the deliveries of this webhook.
        </p>
      )}
      <label className="row">
        <input
          type="checkbox"
          checked={isActive}
          onChange={(change) => setIsActive(change.target.checked)}
        />
        Active
      </label>
      {error !== undefined && <ProblemNote error={error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={!canSave}>
          Save
        </button>
        <button type="button" className="button" onClick={() => setIsRotating(true)}>
          Rotate secret …
        </button>
      </div>
      {isRotating && <RotateDialog app={String(app.id)} onClose={() => setIsRotating(false)} />}
    </form>
  );
}

function RotateDialog({ app, onClose }: { readonly app: string; readonly onClose: () => void }) {
  const [overlap, setOverlap] = useState('1d');
  // The secret is kept only in this component.
  const [secret, setSecret] = useState('');
  const seconds = parseDuration(overlap);
  if (secret !== '')
    return <SecretDialog title="New webhook secret" secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title="Rotate secret"
      action="Rotate"
      canAct={seconds !== undefined}
      act={async () => {
        setSecret((await rotateSecret(app, Math.round(seconds ?? 0))).secret);
      }}
      onClose={onClose}
    >
      <p className="soft">
        The server generates a new secret and signs deliveries with it. The old secret stays valid
        during the overlap.
      </p>
      <TextField
        label="Overlap"
        isCode
        value={overlap}
        onChange={setOverlap}
        mistake={
          seconds === undefined
            ? 'Invalid duration; use a value such as 1d, 12h or 30m.'
            : undefined
        }
        hint={
          seconds === undefined
            ? undefined
            : `The old secret expires after ${durationText(seconds)}.`
        }
      />
    </FormDialog>
  );
}
