/** The time in milliseconds as an expression of a store that nodes share: their own clocks differ. */
export const SHARED_NOW_MS = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
