import {
  type Bucket,
  ban,
  fetchBans,
  fetchTop,
  fetchUsage,
  liftBan,
  MAX_BANS,
  MAX_TOP_CALLERS,
  NEAR_LIMIT,
  resetUsage,
  type TopCaller,
  usedShare,
} from '@plinth/console-core/api/limits.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { countText, durationText, secondsText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { ACTIONS, DataTable, type TableColumn } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SearchBox, SearchSelect } from '../../components/search/search-fields.js';
import { RejectedCallers, RejectionText } from './rejected-callers.js';
import './limits.css';

const REFRESH_MS = 5000;
const CORE = 'core';
/** The usage of any caller names all limited resources. */
const ANY_CALLER = 'ip:127.0.0.1';

/** Shows the callers with the most requests, the bans, and the remaining limits of one caller. */
export function LimitsPage() {
  const search = useSearch({ strict: false }) as Record<string, string>;
  const { resource = CORE, identity = '' } = search;
  const navigate = useNavigate();
  const [banning, setBanning] = useState<string | undefined>();
  const show = (name: string) =>
    void navigate({ to: '/limits', search: { ...search, identity: name } });
  const { act } = useChanges('limits');
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Rate limits</h1>
        <SearchBox label="Find caller" placeholder="user:1, ip:192.0.2.1" name="identity" isCode />
        <span className="row wrap end">
          <Link to="/limits/simulate" search={{ identity }} className="button">
            Simulate a request
          </Link>
          <button type="button" className="button" onClick={() => setBanning(identity)}>
            Ban …
          </button>
        </span>
      </header>
      {identity !== '' && <Caller identity={identity} act={act} />}
      <Top resource={resource} onCaller={show} />
      <RejectedCallers callerColumn={callerColumn(show)} />
      <Bans onCaller={show} act={act} />
      {banning !== undefined && (
        <BanDialog
          identity={banning}
          onClose={() => setBanning(undefined)}
          onDone={(name) => {
            setBanning(undefined);
            void act(async () => undefined, `${name} banned`);
          }}
        />
      )}
    </div>
  );
}

type Act = (what: () => Promise<unknown>, done: string) => Promise<void>;

function Buckets({
  rows,
  first,
}: {
  readonly rows: readonly (readonly [string, Bucket])[];
  readonly first: string;
}) {
  return (
    <DataTable
      label={first}
      rows={rows}
      keyOf={([name]) => name}
      columns={[
        { title: first, className: 'wide', cell: ([name]) => <code>{name}</code> },
        { title: 'Used', className: 'num', cell: ([, { used }]) => countText(used) },
        { title: 'Remaining', className: 'num', cell: ([, { remaining }]) => countText(remaining) },
        { title: 'Limit', className: 'num', cell: ([, { limit }]) => countText(limit) },
        { title: 'Resets (UTC)', className: 'nowrap', cell: ([, { reset }]) => secondsText(reset) },
      ]}
    />
  );
}

function Caller({ identity, act }: { readonly identity: string; readonly act: Act }) {
  const id = useId();
  const usage = useQuery({
    queryKey: ['limits', 'usage', identity],
    queryFn: () => fetchUsage(identity),
    retry: false,
  });
  const used = Object.entries(usage.data?.buckets ?? {}).filter(([, bucket]) => bucket.used > 0);
  return (
    <section className="stack" aria-labelledby={id}>
      <div className="row wrap">
        <h2 id={id}>
          <code>{identity}</code>
        </h2>
        {usage.data?.ban && (
          <span className="chip bad">banned until {secondsText(usage.data.ban.until)}</span>
        )}
        {usage.data?.ban && (
          <button
            type="button"
            className="button small"
            onClick={() => void act(() => liftBan(identity), `${identity} unbanned`)}
          >
            Unban
          </button>
        )}
        {usage.data && (
          <button
            type="button"
            className="button small"
            onClick={() => void act(() => resetUsage(identity), `Limits of ${identity} reset`)}
          >
            Reset
          </button>
        )}
      </div>
      <QueryProblem of={usage} />
      {usage.data?.rejected && <RejectionText counts={usage.data.rejected} />}
      {usage.data !== undefined &&
        (used.length === 0 ? (
          <p className="card empty soft">No requests in the current windows.</p>
        ) : (
          <Buckets rows={used} first="Resource" />
        ))}
    </section>
  );
}

const callerColumn = (
  onCaller: (name: string) => void,
): TableColumn<{ readonly identity: string }> => ({
  title: 'Caller',
  className: 'wide',
  cell: ({ identity }) => (
    <button type="button" className="button small quiet mono" onClick={() => onCaller(identity)}>
      {identity}
    </button>
  ),
});

function Top(props: { readonly resource: string; readonly onCaller: (name: string) => void }) {
  const { resource, onCaller } = props;
  const id = useId();
  const usage = useQuery({
    queryKey: ['limits', 'usage', ANY_CALLER],
    queryFn: () => fetchUsage(ANY_CALLER),
  });
  const names = Object.keys(usage.data?.buckets ?? {});
  const top = useQuery({
    queryKey: ['limits', 'top', resource],
    queryFn: () => fetchTop(resource),
    refetchInterval: REFRESH_MS,
    retry: false,
    placeholderData: (before) => before,
  });
  const sorted = top.data && [...top.data].sort((a, b) => usedShare(b) - usedShare(a));
  return (
    <section className="stack" aria-labelledby={id}>
      <div className="row wrap">
        <h2 id={id}>Top callers</h2>
        <SearchSelect
          label="Resource"
          name="resource"
          fallback={CORE}
          options={[...new Set([CORE, resource, ...names])].map((name) => [name, name])}
        />
        <span className="soft small">refreshed every 5 s</span>
      </div>
      <QueryProblem of={top} />
      <DataTable
        label="Top callers"
        rows={sorted}
        keyOf={({ identity }) => identity}
        columns={[
          callerColumn(onCaller),
          { title: 'Used', className: 'nowrap', cell: (caller) => <UsedBar caller={caller} /> },
          {
            title: 'Resets in',
            className: 'num nowrap',
            cell: ({ reset }) =>
              reset === null ? '–' : durationText(Math.max(0, reset - Date.now() / 1000)),
          },
        ]}
        empty={<>No {resource} requests in the current window.</>}
      />
      {top.data?.length === MAX_TOP_CALLERS && (
        <p className="hint soft">Showing the {MAX_TOP_CALLERS} callers with the most requests.</p>
      )}
    </section>
  );
}

function UsedBar({ caller }: { readonly caller: TopCaller }) {
  const { used, limit } = caller;
  if (limit === null) return `${countText(used)}, no limit`;
  const share = usedShare(caller);
  const state = share >= 1 ? 'bad' : share >= NEAR_LIMIT ? 'warn' : '';
  return (
    <span className="used">
      <span className="used-bar" aria-hidden="true">
        <span className={state} style={{ width: `${Math.min(100, 100 * share)}%` }} />
      </span>
      {countText(used)} / {countText(limit)}
    </span>
  );
}

function Bans({ onCaller, act }: { readonly onCaller: (name: string) => void; readonly act: Act }) {
  const id = useId();
  const bans = useQuery({
    queryKey: ['limits', 'bans'],
    queryFn: fetchBans,
    refetchInterval: REFRESH_MS,
  });
  return (
    <section className="stack" aria-labelledby={id}>
      <h2 id={id}>Bans</h2>
      <QueryProblem of={bans} />
      <DataTable
        label="Bans"
        rows={bans.data}
        keyOf={({ identity }) => identity}
        columns={[
          callerColumn(onCaller),
          { title: 'Until (UTC)', className: 'nowrap', cell: ({ until }) => secondsText(until) },
          { title: 'Level', className: 'num', cell: ({ level }) => level },
          {
            ...ACTIONS,
            cell: ({ identity }) => (
              <button
                type="button"
                className="button small"
                aria-label={`Unban ${identity}`}
                onClick={() => void act(() => liftBan(identity), `${identity} unbanned`)}
              >
                Unban
              </button>
            ),
          },
        ]}
        empty="No bans. All requests from a banned caller are rejected until the ban expires."
      />
      {bans.data?.length === MAX_BANS && (
        <p className="hint soft">
          Showing the {MAX_BANS} bans that expire last. Use “Find caller” for other callers.
        </p>
      )}
    </section>
  );
}

function BanDialog(props: {
  readonly identity: string;
  readonly onClose: () => void;
  readonly onDone: (identity: string) => void;
}) {
  const { onClose, onDone } = props;
  const [identity, setIdentity] = useState(props.identity);
  const [duration, setDuration] = useState('10m');
  const seconds = parseDuration(duration);
  return (
    <FormDialog
      title="Ban caller"
      action="Ban"
      isDanger
      canAct={identity.trim() !== '' && seconds !== undefined && seconds >= 1}
      act={async () => {
        await ban(identity.trim(), Math.round(seconds ?? 600));
        onDone(identity.trim());
      }}
      onClose={onClose}
    >
      <TextField
        label="Caller"
        isCode
        value={identity}
        onChange={setIdentity}
        placeholder="ip:192.0.2.1"
        hint="The identity as shown in the lists. Its requests are rejected until the ban expires."
      />
      <TextField
        label="Duration"
        isCode
        value={duration}
        onChange={setDuration}
        mistake={
          seconds === undefined
            ? 'Invalid duration; use a value such as 10m, 12h or 1d 6h.'
            : undefined
        }
      />
    </FormDialog>
  );
}
