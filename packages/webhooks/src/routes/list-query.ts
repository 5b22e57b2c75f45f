import { type FieldError, pageSize, ValidationFailed } from '@plinth/kernel';
import { webhookError } from '../errors.js';
import type { DeliveryFilter } from '../model/delivery.js';

export interface ListQuery {
  readonly limit: number;
  readonly fromId: number | undefined;
  readonly filter: DeliveryFilter;
}

/** Throws `cursor_invalid` and `ValidationFailed`. Source: webhooks, section 5.3. */
export function readListQuery(parameters: URLSearchParams, isStrict: boolean): ListQuery {
  const errors: FieldError[] = [];
  const limit = readLimit(parameters, isStrict, errors);
  const filter = readFilter(parameters, errors);
  const cursor = parameters.get('cursor');
  const fromId = cursor === null ? undefined : readCursor(cursor);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return { limit, fromId, filter };
}

const invalid = (field: string, value: unknown): FieldError => ({
  resource: 'HookDelivery',
  field,
  code: 'invalid',
  value,
});

function readLimit(parameters: URLSearchParams, isStrict: boolean, errors: FieldError[]): number {
  const text = parameters.get('per_page');
  const size = pageSize(text);
  if (isStrict && text !== null && Number(text) !== size) errors.push(invalid('per_page', text));
  return size;
}

function readCursor(text: string): number {
  const id = /^v1_([1-9]\d{0,15})$/.exec(text)?.[1];
  const value = Number(id);
  if (id === undefined || !Number.isSafeInteger(value)) throw webhookError('cursor_invalid');
  return value;
}

export const makeCursor = (id: number): string => `v1_${id}`;

const FLAGS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export function readFilter(parameters: URLSearchParams, errors: FieldError[]): DeliveryFilter {
  const redelivery = parameters.get('redelivery');
  const status = parameters.get('status');
  const flag = redelivery === null ? undefined : FLAGS.get(redelivery);
  if (redelivery !== null && flag === undefined) errors.push(invalid('redelivery', redelivery));
  const isStatus = status === 'success' || status === 'failure';
  if (status !== null && !isStatus) errors.push(invalid('status', status));
  const text = (name: string) => {
    const value = parameters.get(name);
    if (value === null) return {};
    if (!value.includes('\0')) return { [name]: value };
    errors.push(invalid(name, value)); // no record contains it, and PostgreSQL rejects it
    return {};
  };
  const id = (name: string) => {
    const value = parameters.get(name);
    if (value === null) return {};
    if (/^[1-9]\d{0,14}$/.test(value)) return { [name]: Number(value) };
    errors.push(invalid(name, value));
    return {};
  };
  const time = (name: string, key: 'sinceMs' | 'untilMs') => {
    const value = parameters.get(name);
    if (value === null) return {};
    const ms = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(ms)) return { [key]: ms };
    errors.push(invalid(name, value));
    return {};
  };
  return {
    ...(flag !== undefined && { redelivery: flag }),
    ...(isStatus && { status }),
    ...text('event'),
    ...text('action'),
    ...text('guid'),
    ...id('installation_id'),
    ...id('repository_id'),
    ...time('since', 'sinceMs'),
    ...time('until', 'untilMs'),
  };
}
