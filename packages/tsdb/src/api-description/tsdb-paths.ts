import { Type } from 'typebox';
import { managementPaths } from './management.js';
import { processingPaths } from './processing.js';
import { queryPaths } from './queries.js';
import { writePaths } from './writes.js';

/** Paths of the service in OpenAPI 3.1, as far as they are served. Source: tsdb-http. */
export function describeTsdb(): {
  readonly paths: Readonly<Record<string, object>>;
  readonly schemas: Readonly<Record<string, object>>;
} {
  return {
    paths: { ...writePaths(), ...queryPaths(), ...managementPaths(), ...processingPaths() },
    schemas: { Error: FAILURE, RefusedLines: REFUSED_LINES },
  };
}

const FAILURE = Type.Object({ error: Type.String(), data: Type.Object({}) });
const REFUSED_LINES = Type.Object({
  error: Type.String(),
  data: Type.Array(
    Type.Object({
      original_line: Type.String(),
      line_number: Type.Integer({ minimum: 1 }),
      error_message: Type.String(),
    }),
  ),
});
