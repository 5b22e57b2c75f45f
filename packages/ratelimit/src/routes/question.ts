import { type FieldError, ValidationFailed } from '@plinth/kernel';
import type { Question } from '../domain/decision-service.js';

type Fields = Readonly<Record<string, unknown>>;

const MAX_AMOUNT = 1_000_000;
const MAX_TEXT_LENGTH = 8_192;
const DEFAULT_DOMAIN = 'default';

const FIELDS: ReadonlySet<string> = new Set([
  'identity',
  'authorization',
  'ip',
  'resource',
  'endpoint',
  'method',
  'cost',
  'points',
  'content',
  'content_per_minute',
  'graph',
  'heavy',
  'lease',
  'dry_run',
  'domain',
  'objects',
]);

/** Throws `ValidationFailed` with everything that is wrong. Source: rate-limits, section 12.1. */
export function readQuestion(body: Fields): Question & { readonly objects: number } {
  const errors: FieldError[] = [];
  const bad = (field: string): void => {
    const value = field === 'authorization' ? undefined : body[field];
    errors.push({ resource: 'Check', field, code: 'invalid', value });
  };
  const textOf = (field: string, byDefault: string): string => {
    const value = body[field] ?? byDefault;
    if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH) return value;
    bad(field);
    return byDefault;
  };
  const amountOf = <D extends number | undefined>(field: string, byDefault: D): number | D => {
    const value = body[field] ?? byDefault;
    if (value === undefined || isAmount(value)) return value as number | D; // either was asked for
    bad(field);
    return byDefault;
  };
  const flagOf = (field: string): boolean => {
    const value = body[field] ?? false;
    if (typeof value !== 'boolean') bad(field);
    return value === true;
  };
  for (const field of Object.keys(body)) if (!FIELDS.has(field)) bad(field);
  const graph = readGraph(body['graph']);
  if (graph === undefined) bad('graph');
  if ((body['domain'] ?? DEFAULT_DOMAIN) !== DEFAULT_DOMAIN) bad('domain');
  const question = {
    caller: readCaller(body, bad, errors),
    resource: textOf('resource', graph?.isGraph ? 'graphql' : 'core'),
    endpoint: textOf('endpoint', '*'),
    method: textOf('method', 'GET').toUpperCase(),
    cost: amountOf('cost', graph?.cost ?? 1),
    points: amountOf('points', undefined),
    content: flagOf('content'),
    contentPerMinute: amountOf('content_per_minute', undefined),
    graph: graph?.isGraph ? { mutation: graph.mutation } : false,
    heavy: amountOf('heavy', 0),
    lease: flagOf('lease'),
    dryRun: flagOf('dry_run'),
    objects: amountOf('objects', 0),
  };
  if (errors.length > 0) throw new ValidationFailed(errors);
  return question;
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_AMOUNT;

function readCaller(
  body: Fields,
  bad: (field: string) => void,
  errors: FieldError[],
): Question['caller'] {
  const { identity, authorization, ip } = body;
  const text = (field: string, value: unknown): string => {
    if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH) return value;
    bad(field);
    return '';
  };
  if (identity !== undefined) return { by: 'identity', key: text('identity', identity) };
  const address = ip === undefined ? undefined : text('ip', ip);
  if (authorization !== undefined) {
    const header = text('authorization', authorization);
    return { by: 'authorization', header, ip: address };
  }
  if (address === undefined) {
    const message = 'one of identity, authorization and ip is needed';
    errors.push({ resource: 'Check', field: 'identity', code: 'custom', message });
  }
  return { by: 'ip', ip: address ?? '' };
}

function readGraph(
  value: unknown,
): { readonly isGraph: boolean; readonly mutation: boolean; readonly cost: number } | undefined {
  if (value === undefined || value === false) return { isGraph: false, mutation: false, cost: 1 };
  if (value === true) return { isGraph: true, mutation: false, cost: 1 };
  if (typeof value !== 'object' || value === null) return undefined;
  const { mutation = false, cost = 1, ...rest } = value as Fields; // an object, as just checked
  const isKnown = typeof mutation === 'boolean' && isAmount(cost) && Object.keys(rest).length === 0;
  return isKnown ? { isGraph: true, mutation, cost } : undefined;
}
