import type { Chance } from '../../harness/index.js';
import { corpus, type HostileRequest, wellFormed } from '../hostile-request.js';
import { mutated } from '../mutate.js';
import { influxqlStatement } from './influxql-statements.js';
import { sqlStatement } from './sql-statements.js';

const QUERIES = [...corpus('queries.sql'), ...corpus('queries.influxql')];
const PARAMS = { a: 1, p: 'a' };

/** A generated statement in either language; one in ten is mutated afterwards. */
export function statementRequest(chance: Chance): HostileRequest {
  const isSql = chance.happens(0.5);
  const made = isSql ? sqlStatement(chance) : influxqlStatement(chance);
  const q = wellFormed(chance.happens(0.1) ? mutated(made, chance, QUERIES) : made);
  if (!isSql && chance.happens(0.5)) {
    const fields = { db: 'fuzz', q, params: JSON.stringify(PARAMS) };
    return {
      path: '/query',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
  }
  return {
    path: isSql ? '/api/v3/query_sql' : '/api/v3/query_influxql',
    body: JSON.stringify({ db: 'fuzz', q, format: 'json', params: PARAMS }),
    headers: { 'content-type': 'application/json' },
  };
}
