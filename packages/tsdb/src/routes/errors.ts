import type { Outage, RequestError, RequestInvalid } from '@plinth/kernel';
import type { TsdbError } from '@plinth/tsdb-model/errors.js';

/** All expected errors of requests, for each of which `to-wire.ts` has a status. */
export type ErrorWithStatus =
  | TsdbError
  | Outage
  | RequestInvalid
  | RequestError<
      | 'body_too_large'
      | 'gzip_corrupt'
      | 'encoding_unacceptable'
      | 'content_type_unacceptable'
      | 'body_cut'
      | 'body_too_slow'
      | 'body_chunks_too_small'
    >;
