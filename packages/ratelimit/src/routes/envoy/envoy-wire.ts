import { isObject } from '@plinth/kernel';
import {
  type EnvoyDecision,
  type EnvoyDescriptor,
  type EnvoyRequest,
  isUnit,
  leftOf,
  UNIT_SEC,
} from '../../domain/envoy-service.js';
import { rateLimitError } from '../../errors.js';
import { windowSecOf } from '../../model/plan.js';
import { UNLIMITED } from '../../model/resource.js';
import { type ResponseContext, toWireResponse } from '../wire-response.js';

type Fields = Readonly<Record<string, unknown>>;

export const CODE = { OK: 'OK', OVER_LIMIT: 'OVER_LIMIT' } as const;

/** A response as proto3 JSON; gRPC has the same fields in snake case. */
export interface EnvoyResponse {
  readonly overallCode: string;
  readonly statuses: readonly object[];
  readonly responseHeadersToAdd: readonly { readonly key: string; readonly value: string }[];
  /** Body of a refusal. */
  readonly rawBody: Buffer | undefined;
}

/** Parses the message as decoded by gRPC or from JSON. Throws `check_invalid`. */
export function readEnvoyRequest(message: unknown): EnvoyRequest {
  const fields = fieldsOf(message, 'the request');
  return {
    descriptors: listOf(fields, 'descriptors').map(readDescriptor),
    hitsAddend: numberOf(pick(fields, 'hitsAddend', 'hits_addend'), 'hits_addend') || 1,
  };
}

function readDescriptor(value: unknown): EnvoyDescriptor {
  const fields = fieldsOf(value, 'a descriptor');
  const entries = listOf(fields, 'entries').map((entry) => {
    const { key, value: text = '' } = fieldsOf(entry, 'a descriptor entry');
    if (typeof key !== 'string' || typeof text !== 'string') {
      throw rateLimitError(
        'check_invalid',
        'each descriptor entry must have a string key and a string value',
      );
    }
    return { key, value: text };
  });
  const limit = fields['limit'];
  const hits = pick(fields, 'hitsAddend', 'hits_addend');
  return {
    entries,
    limit: limit === undefined || limit === null ? undefined : readLimit(fieldsOf(limit, 'limit')),
    hitsAddend:
      hits === undefined || hits === null ? undefined : numberOf(unwrap(hits), 'hits_addend'),
  };
}

function readLimit(fields: Fields): EnvoyDescriptor['limit'] {
  const unit = fields['unit'];
  if (typeof unit !== 'string' || !isUnit(unit))
    throw rateLimitError(
      'check_invalid',
      'unknown unit; use SECOND, MINUTE, HOUR, DAY, WEEK, MONTH or YEAR',
    );
  return {
    requestsPerUnit: numberOf(
      pick(fields, 'requestsPerUnit', 'requests_per_unit'),
      'requests_per_unit',
    ),
    unit,
  };
}

/** A wrapped integer: `{value}` in gRPC, the plain value in JSON. */
const unwrap = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, 'value') : value;

const pick = (fields: Fields, ...names: readonly string[]): unknown =>
  names.map((name) => fields[name]).find((value) => value !== undefined);

function numberOf(value: unknown, name: string): number {
  // 64-bit integers are strings in JSON.
  const number = value === undefined ? 0 : Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw rateLimitError('check_invalid', `${name} must be a non-negative integer`);
  return number;
}

function fieldsOf(value: unknown, name: string): Fields {
  if (!isObject(value)) throw rateLimitError('check_invalid', `${name} must be an object`);
  return value;
}

function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw rateLimitError('check_invalid', `${name} must be a list`);
  return value;
}

const NAME_OF_SEC: ReadonlyMap<number, string> = new Map(
  Object.entries(UNIT_SEC).map(([name, seconds]) => [seconds, name]),
);

export function toEnvoyResponse(
  envoyDecision: EnvoyDecision,
  context: ResponseContext,
): EnvoyResponse {
  const nowSec = context.clock.nowMs() / 1000;
  const wire = envoyDecision.tightest && toWireResponse(envoyDecision.tightest, context);
  return {
    overallCode: envoyDecision.isOverLimit ? CODE.OVER_LIMIT : CODE.OK,
    statuses: envoyDecision.results.map((each) => {
      if (each === undefined || each.decision.limit === UNLIMITED) {
        return { code: each !== undefined && each.isRefused ? CODE.OVER_LIMIT : CODE.OK };
      }
      const { decision, caller, plan } = each;
      const windowSec = windowSecOf(caller, plan);
      return {
        code: each.isRefused ? CODE.OVER_LIMIT : CODE.OK,
        currentLimit: {
          requestsPerUnit: decision.limit,
          unit: NAME_OF_SEC.get(windowSec) ?? 'UNKNOWN',
          name: plan.resource.name,
        },
        limitRemaining: leftOf(each),
        durationUntilReset: Math.max(0, Math.ceil(decision.resetSec - nowSec)),
      };
    }),
    responseHeadersToAdd: Object.entries(wire?.headers ?? {}).map(([key, value]) => ({
      key,
      value,
    })),
    rawBody: envoyDecision.isOverLimit ? Buffer.from(JSON.stringify(wire?.body)) : undefined,
  };
}
