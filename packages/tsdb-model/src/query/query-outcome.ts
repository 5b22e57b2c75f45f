import { tsdbError } from '../errors.js';

/** Source: tsdb-http, "System tables and information_schema", phases of `queries`. */
export type QueryPhase =
  | 'received'
  | 'logically_planned'
  | 'execution_permit'
  | 'cancel'
  | 'success'
  | 'fail';

export type QueryOutcome = Extract<QueryPhase, 'cancel' | 'success' | 'fail'>;

export const outcomeOf = (error: unknown): QueryOutcome =>
  tsdbError.is(error, 'query_cancelled') || tsdbError.is(error, 'query_unauthorized')
    ? 'cancel'
    : 'fail';
