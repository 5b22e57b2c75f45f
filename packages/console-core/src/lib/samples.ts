/** The database of the sample data. */
export const SAMPLE_DATABASE = 'sample';

/** Explore with a query of the sample data: daily weather of Seattle and New York, 2012 to 2015. */
export const SAMPLE_EXPLORE: Readonly<Record<string, string>> = {
  db: SAMPLE_DATABASE,
  lang: 'sql',
  from: '2012-01-01',
  to: '2016-01-01',
  view: 'line',
  q: `SELECT date_bin(\${interval}, time) AS time, location, avg(temp_max) AS temp_max
FROM weather
WHERE time >= \${from} AND time < \${to}
GROUP BY 1, location
ORDER BY 1`,
};
