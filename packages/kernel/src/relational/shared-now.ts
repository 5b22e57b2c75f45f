/** The current time in milliseconds as an SQL expression. Nodes that share a store use its clock, as their own clocks differ. */
export const SHARED_NOW_MS = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
