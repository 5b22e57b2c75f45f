/** The members of a route that the functions below read. */
interface Route {
  readonly endpoint: string;
  readonly resource: string;
  readonly cost: number;
  readonly points: number;
  readonly content: boolean;
  readonly heavy: number;
}

interface Usage {
  readonly secondary: {
    readonly concurrency: number;
    readonly cpu_ms: number;
    readonly content_minute: number;
    readonly content_hour: number;
    readonly heavy: number;
    readonly points: readonly { readonly endpoint: string; readonly points: number }[];
  };
  readonly ban: { readonly until: number } | null;
}

interface Decision {
  readonly limit_kind: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** One limit that a request is checked against. */
export interface LimitStep {
  readonly kind: string;
  readonly name: string;
  readonly used: number | undefined;
  readonly limit: number | undefined;
  /** The amount that this request adds. */
  readonly cost: number;
  readonly result: 'passed' | 'rejected' | 'not checked';
}

/** Names of the limits, as in the responses of the server. */
const NAMES: Readonly<Record<string, string>> = {
  ban: 'Ban',
  primary: 'Primary limit',
  concurrency: 'Concurrent requests',
  points_rest: 'Endpoint points per minute',
  cpu: 'CPU seconds per minute',
  content_minute: 'Content creation requests per minute',
  content_hour: 'Content creation requests per hour',
  heavy: 'Weight of heavy requests per minute',
};

export const limitName = (kind: string): string => NAMES[kind] ?? kind.replaceAll('_', ' ');

/**
 * Returns the limits of a request in the order in which the server checks them. Limits after the exceeded one are not
 * checked.
 * @param state.before the number of earlier requests of the simulation; they add to the usage.
 * @param state.maximumOf the value of a setting below `rate_limit.secondary_`.
 */
export function limitSteps(
  route: Route,
  state: {
    readonly usage: Usage;
    readonly decision: Decision;
    readonly before: number;
    readonly maximumOf: (setting: string) => number | undefined;
  },
): readonly LimitStep[] {
  const { usage, decision, before, maximumOf } = state;
  const steps = [
    { kind: 'ban', used: undefined, limit: undefined, cost: 0 },
    ...primarySteps(route, decision),
    ...secondarySteps(route, usage.secondary, maximumOf).map((step) => ({
      ...step,
      // Each request ends before the next one starts.
      used: step.kind === 'concurrency' ? step.used : step.used + before * step.cost,
    })),
  ];
  const refusedAt = steps.findIndex(({ kind }) => kind === decision.limit_kind);
  return steps.map((step, index) => ({
    ...step,
    name:
      step.kind === 'primary' ? `${limitName(step.kind)} ${route.resource}` : limitName(step.kind),
    result:
      refusedAt === -1 || index < refusedAt
        ? 'passed'
        : index === refusedAt
          ? 'rejected'
          : 'not checked',
  }));
}

type Amounts = Pick<LimitStep, 'kind' | 'limit' | 'cost'> & { readonly used: number };

/** Reads the primary limit from the headers. A caller without a primary limit receives no headers. */
function primarySteps({ cost }: Route, { headers }: Decision): readonly Amounts[] {
  const limit = headers['x-ratelimit-limit'];
  if (limit === undefined) return [];
  const used = Number(headers['x-ratelimit-used']);
  return [{ kind: 'primary', used, limit: Number(limit), cost }];
}

function secondarySteps(
  { endpoint, points, content, heavy }: Route,
  usage: Usage['secondary'],
  maximumOf: (setting: string) => number | undefined,
): readonly Amounts[] {
  const usedPoints = usage.points.find((each) => each.endpoint === endpoint)?.points ?? 0;
  const step = (kind: string, setting: string, used: number, cost: number): Amounts => ({
    ...{ kind, used, limit: maximumOf(setting), cost },
  });
  return [
    step('concurrency', 'concurrency', usage.concurrency, 1),
    ...(points > 0
      ? [
          step('points_rest', 'points_rest', usedPoints, points),
          step('cpu', 'cpu_seconds', Math.round(usage.cpu_ms / 1000), 0),
        ]
      : []),
    ...(content
      ? [
          step('content_minute', 'content_minute', usage.content_minute, 1),
          step('content_hour', 'content_hour', usage.content_hour, 1),
        ]
      : []),
    ...(heavy > 0 ? [step('heavy', 'heavy', usage.heavy, heavy)] : []),
  ];
}

/** Returns the number of further requests of this kind that the limits allow. */
export function requestsLeft(steps: readonly LimitStep[]): number | undefined {
  const counts = steps.flatMap(({ used, limit, cost, kind }) =>
    used === undefined || limit === undefined || cost === 0 || kind === 'concurrency'
      ? []
      : [Math.max(0, Math.floor((limit - used) / cost))],
  );
  return counts.length === 0 ? undefined : Math.min(...counts);
}
