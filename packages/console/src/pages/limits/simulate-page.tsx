import {
  fetchLimitedRoutes,
  fetchUsage,
  type LimitedRoute,
  MAX_SIMULATED_COUNT,
  type Simulation,
  simulate,
  type Usage,
} from '@plinth/console-core/api/limits.js';
import { fetchSettings } from '@plinth/console-core/api/server.js';
import {
  type LimitStep,
  limitName,
  limitSteps,
  requestsLeft,
} from '@plinth/console-core/lib/limit-steps.js';
import { countOf, countText, durationText, timeText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { CopyBox } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { ProblemNote, QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useTask } from '../../components/controls/use-task.js';
import { useSearchParams } from '../../components/search/use-search-params.js';

const SETTING = 'rate_limit.secondary_';
/** A request to a path that is not in the list, or to another system. */
const OTHER: LimitedRoute = {
  ...{ service: '', method: 'GET', path: '', endpoint: '*', resource: 'core' },
  ...{ cost: 1, points: 1, content: false, heavy: 0, exempt: false },
};

const nameOf = ({ method, path }: LimitedRoute): string => (path === '' ? '' : `${method} ${path}`);

interface Simulated {
  readonly identity: string;
  readonly route: LimitedRoute;
  readonly count: number;
  readonly decision: Simulation;
  readonly usage: Usage;
}

/** Returns `undefined` for an invalid number of requests. */
function readCount(text: string): number | undefined {
  const count = Number(text);
  return /^\d+$/.test(text) && count >= 1 && count <= MAX_SIMULATED_COUNT ? count : undefined;
}

/** Shows which limit one or more requests would meet, without counting them. */
export function SimulatePage() {
  const [{ identity = '', route: routeName = '', count: countInput = '1' }, setParams] =
    useSearchParams();
  const { run, error, isBusy } = useTask();
  const [result, setResult] = useState<Simulated | undefined>();
  const routes = useQuery({ queryKey: ['limits', 'routes'], queryFn: fetchLimitedRoutes });
  const limited = (routes.data ?? []).filter(({ exempt }) => !exempt);
  const route = limited.find((each) => nameOf(each) === routeName) ?? OTHER;
  const count = readCount(countInput.trim());
  const canStart = identity.trim() !== '' && count !== undefined;
  const change = (next: Record<string, string>) => {
    setResult(undefined);
    setParams(next);
  };
  const start = () =>
    run(async () => {
      if (count === undefined) return;
      const caller = identity.trim();
      const [decision, usage] = await Promise.all([
        simulate(caller, route, count),
        fetchUsage(caller),
      ]);
      setResult({ identity: caller, route, count, decision, usage });
    });
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/limits" search={{ identity }}>
            Rate limits
          </Link>
        </nav>
        <h1 tabIndex={-1}>Simulate requests</h1>
      </header>
      <QueryProblem of={routes} />
      <form
        className="card stack form-card"
        aria-label="Request"
        onSubmit={(event) => {
          event.preventDefault();
          if (canStart && !isBusy) void start();
        }}
      >
        <TextField
          label="Caller"
          isCode
          value={identity}
          onChange={(next) => change({ identity: next })}
          placeholder="user:1"
          hint="An identity as shown in the lists, for example user:1, installation:7 or ip:192.0.2.1"
        />
        <RouteChoice routes={limited} route={route} onChange={(next) => change({ route: next })} />
        <TextField
          label="Requests"
          value={countInput}
          onChange={(next) => change({ count: next })}
          hint={`Sent one after another, at most ${countText(MAX_SIMULATED_COUNT)}`}
          mistake={
            count === undefined
              ? `Invalid number; enter an integer from 1 to ${countText(MAX_SIMULATED_COUNT)}.`
              : undefined
          }
        />
        {error !== undefined && <ProblemNote error={error} />}
        <div className="row wrap">
          <button type="submit" className="button primary" disabled={!canStart || isBusy}>
            Simulate
          </button>
          <span className="hint soft">Nothing is sent or counted.</span>
        </div>
      </form>
      {result !== undefined && <Outcome {...result} />}
    </div>
  );
}

function RouteChoice(props: {
  readonly routes: readonly LimitedRoute[];
  readonly route: LimitedRoute;
  readonly onChange: (name: string) => void;
}) {
  const { routes, route, onChange } = props;
  const id = useId();
  const services = [...new Set(routes.map(({ service }) => service))];
  return (
    <div className="field">
      <label htmlFor={id}>Route</label>
      <select
        id={id}
        className="input mono"
        aria-describedby={`${id}-hint`}
        value={nameOf(route)}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">any other path</option>
        {services.map((service) => (
          <optgroup key={service} label={service}>
            {routes
              .filter((each) => each.service === service)
              .map((each) => (
                <option key={nameOf(each)}>{nameOf(each)}</option>
              ))}
          </optgroup>
        ))}
      </select>
      <span id={`${id}-hint`} className="hint">
        Counts as {countOf(route.cost, 'request')} against the <code>{route.resource}</code> limit
        {route.points > 0 && ` and ${countOf(route.points, 'point')} against the endpoint limit`}
        {route.content && '. Also counts as content creation'}
        {route.heavy > 0 && `. Weight: ${route.heavy}`}.
      </span>
    </div>
  );
}

const RESULT_STYLES: Readonly<Record<LimitStep['result'], readonly [style: string, text: string]>> =
  {
    passed: ['chip', '✓ passed'],
    rejected: ['chip bad', '✕ rejected'],
    'not checked': ['chip', '– not checked'],
  };

function Outcome({ identity, route, count, decision, usage }: Simulated) {
  const id = useId();
  const settings = useQuery({ queryKey: ['server', 'settings'], queryFn: fetchSettings });
  const maximumOf = (name: string): number | undefined => {
    const found = settings.data?.find((each) => each.name === SETTING + name);
    const value = found?.value ?? found?.default;
    return typeof value === 'number' ? value : undefined;
  };
  const { allowed, allowed_count: allowedCount } = decision;
  const { limit_kind: kind, retry_after: retrySec } = decision;
  const before = Math.min(allowedCount, count - 1);
  const steps = limitSteps(route, { usage, decision, before, maximumOf });
  const left = requestsLeft(steps);
  const shown = `Request ${countText(before + 1)} of ${countText(count)}`;
  const reset = decision.headers['x-ratelimit-reset'];
  const until = usage.ban && new Date(usage.ban.until * 1000).toISOString();
  return (
    <section className="stack" aria-labelledby={id}>
      <div className="row wrap">
        <h2 id={id}>
          <code>{identity}</code>
        </h2>
        <span className={allowed ? 'chip good' : 'chip bad'} role="status">
          {allowed
            ? count === 1
              ? '✓ allowed'
              : `✓ all ${countText(count)} requests allowed`
            : `✕ ${count === 1 ? '' : `request ${countText(before + 1)} `}rejected: ${limitName(kind ?? '').toLowerCase()}`}
        </span>
        <span className="soft">
          {!allowed && allowedCount > 0 && `${countOf(allowedCount, 'request')} allowed before, `}
          {allowed &&
            left !== undefined &&
            `${countOf(count === 1 ? left : left - 1, 'such request')} remaining`}
          {!allowed && retrySec !== null && `retry after ${durationText(retrySec)}`}
          {kind === 'primary' &&
            reset !== undefined &&
            `resets ${timeText(Number(reset) * 1000)} UTC`}
          {kind === 'ban' && until && `, banned until ${timeText(until)} UTC`}
        </span>
      </div>
      <p className="hint soft">
        Nothing was charged.
        {count > 1 && ` The table shows ${shown.toLowerCase()}; handler time is not simulated.`}
      </p>
      <DataTable
        label="Limits in the order in which they are checked"
        rows={steps}
        keyOf={(step) => step.kind}
        columns={[
          { title: 'Limit', className: 'wide', cell: ({ name }) => name },
          { title: 'Used', className: 'num', cell: ({ used }) => amount(used) },
          {
            title: count === 1 ? 'This request' : shown,
            className: 'num',
            cell: ({ cost }) => `+${countText(cost)}`,
          },
          { title: 'Maximum', className: 'num', cell: ({ limit }) => amount(limit) },
          {
            title: 'Result',
            cell: ({ result }) => (
              <span className={RESULT_STYLES[result][0]}>{RESULT_STYLES[result][1]}</span>
            ),
          },
        ]}
      />
      <h3>
        {allowed ? 'Response headers' : `Response ${decision.status}`}
        {!allowed && route.service !== '' && ` from the ${route.service} service`}
      </h3>
      {decision.body !== null && (
        <CopyBox label="Copy the response body" text={JSON.stringify(decision.body, null, 2)} />
      )}
      <DataTable
        label="Response headers"
        rows={Object.entries(decision.headers)}
        keyOf={([name]) => name}
        columns={[
          { title: 'Header', cell: ([name]) => name },
          { title: 'Value', className: 'wide', cell: ([, value]) => <code>{value}</code> },
        ]}
        empty="The caller has no primary limit, so the response contains no rate limit headers."
      />
    </section>
  );
}

const amount = (value: number | undefined): string =>
  value === undefined ? '–' : countText(value);
