import { writeFlights } from './flights.mjs';
import { DB } from './stories.mjs';

const TOP = 5;

/** Writes all flights. @returns the tally that query results are compared with. */
export async function showFlights(narrator, client) {
  narrator.title('Flights: three million of the first half of 2001');
  const startMs = performance.now();
  const { tally, lineCount, sentBytes } = await narrator.step(
    'write them in requests of 4 MB',
    () => writeFlights(client, DB),
    (written) => `${written.lineCount.toLocaleString('en')} lines`,
  );
  const seconds = (performance.now() - startMs) / 1000;
  narrator.note(
    `${Math.round(lineCount / seconds).toLocaleString('en')} lines/s, ${(sentBytes / 1e6 / seconds).toFixed(0)} MB/s, ` +
      'including the time to read the file and format the lines',
  );
  const same = lineCount - tally.pointCount;
  narrator.note(
    `${same.toLocaleString('en')} lines have the minute and route of an earlier point and replace it`,
  );
  await queryFlights(narrator, client, tally);
  const busiest = [...tally.byOrigin]
    .sort(([a, { flights: m }], [b, { flights: n }]) => n - m || (a < b ? -1 : 1))
    .slice(0, TOP)
    .map(([origin, { flights, delays }]) => ({ origin, flights, delay: delays / flights }));
  await narrator.check(
    `the ${TOP} busiest airports and their mean delay?`,
    () =>
      client.query(
        DB,
        'SELECT origin, count(*) AS flights, avg(delay) AS delay FROM flights ' +
          `GROUP BY origin ORDER BY flights DESC, origin LIMIT ${TOP}`,
      ),
    busiest,
    (found) => found.map(({ origin, delay }) => `${origin} ${delay.toFixed(1)} min`).join(', '),
  );
  const hours = [...tally.atlantaByHour]
    .sort(([a], [b]) => a - b)
    .map(([hour, n]) => ({ hour: new Date(hour * 3_600_000).toISOString().slice(0, 19), n }));
  await narrator.check(
    'departures from Atlanta, hour by hour?',
    () =>
      client.query(
        DB,
        "SELECT date_bin(INTERVAL '1 hour', time) AS hour, count(*) AS n FROM flights " +
          "WHERE origin = 'ATL' GROUP BY 1 ORDER BY 1",
      ),
    hours,
    (found) =>
      `${found.length.toLocaleString('en')} hours, most ${Math.max(...found.map(({ n }) => n))}`,
  );
  return tally;
}

/** This query runs again after the crash. */
export async function queryFlights(narrator, client, tally) {
  await narrator.check(
    'how many flights, how much delay, how far?',
    async () =>
      (
        await client.query(
          DB,
          'SELECT count(*) AS n, sum(delay) AS delay, max(distance) AS farthest FROM flights',
        )
      )[0],
    { n: tally.pointCount, delay: tally.delaySum, farthest: tally.farthest },
    ({ n, delay, farthest }) =>
      `${n.toLocaleString('en')}, ${Math.round(delay / 60).toLocaleString('en')} h, ${farthest} miles`,
  );
}
