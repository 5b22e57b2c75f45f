import { earthquakes, hourlyNormals, stocks, weather } from './data.mjs';

export const DB = 'demo';

const rows = (count) => `${count} rows`;
const isoDay = (ms) => new Date(ms).toISOString().slice(0, 19);
const year = (ms) => new Date(ms).getUTCFullYear();

export async function showEarthquakes(narrator, client) {
  narrator.title('Earthquakes: one week, worldwide');
  const quakes = earthquakes();
  const lines = quakes
    .map(({ id, net, mag, place, depth, timeMs }) => {
      const text = place.replace(/["\\]/g, '\\$&');
      const magnitude = mag === null ? '' : `mag=${mag},`;
      return `earthquakes,net=${net},id=${id} ${magnitude}place="${text}",depth=${depth} ${timeMs}`;
    })
    .join('\n');
  await narrator.step(
    'write them as line protocol',
    () => client.write(DB, lines, 'ms'),
    () => rows(quakes.length),
  );
  await narrator.check(
    'how many?',
    async () => (await client.query(DB, 'SELECT count(*) AS n FROM earthquakes'))[0].n,
    quakes.length,
    String,
  );
  const strongest = quakes.reduce((best, quake) => (quake.mag > best.mag ? quake : best));
  await narrator.check(
    'the strongest?',
    async () =>
      (
        await client.query(
          DB,
          'SELECT mag, place FROM earthquakes WHERE mag IS NOT NULL ORDER BY mag DESC LIMIT 1',
        )
      )[0],
    { mag: strongest.mag, place: strongest.place },
    ({ mag, place }) => `magnitude ${mag}, ${place}`,
  );
  const perDay = countBy(quakes, ({ timeMs }) => isoDay(timeMs - (timeMs % 86_400_000)));
  await narrator.check(
    'earthquakes per day',
    () =>
      client.query(
        DB,
        "SELECT date_bin(INTERVAL '1 day', time) AS day, count(*) AS n FROM earthquakes GROUP BY 1 ORDER BY 1",
      ),
    perDay.map(([day, n]) => ({ day, n })),
    (found) => found.map(({ n }) => n).join(', '),
  );
  const deep = quakes.filter(({ depth }) => depth > 100).length;
  await narrator.check(
    'deeper than 100 km (with a bound parameter)',
    async () => {
      const q = 'SELECT count(*) AS n FROM earthquakes WHERE depth > $depth';
      return (await client.query(DB, q, { depth: 100 }))[0].n;
    },
    deep,
    String,
  );
}

export async function showWeather(narrator, client) {
  narrator.title('Weather: Seattle, daily and hourly');
  const days = weather();
  const hours = hourlyNormals();
  await narrator.step(
    'write four years of daily data',
    () =>
      client.write(
        DB,
        days
          .map(
            (d) =>
              `weather,weather=${d.weather} precipitation=${d.precipitation},temp_max=${d.temp_max},` +
              `temp_min=${d.temp_min},wind=${d.wind} ${d.timeMs}`,
          )
          .join('\n'),
        'ms',
      ),
    () => rows(days.length),
  );
  await narrator.step(
    'write hourly climate normals of one year',
    () =>
      client.write(
        DB,
        hours
          .map(
            (h) =>
              `normals pressure=${h.pressure},temperature=${h.temperature},wind=${h.wind} ${h.timeMs}`,
          )
          .join('\n'),
        'ms',
      ),
    () => rows(hours.length),
  );
  const years = [...new Set(days.map(({ timeMs }) => year(timeMs)))].map((name) => {
    const ofYear = days.filter(({ timeMs }) => year(timeMs) === name);
    return {
      rain: ofYear.reduce((sum, { precipitation }) => sum + precipitation, 0),
      hottest: Math.max(...ofYear.map(({ temp_max }) => temp_max)),
    };
  });
  await narrator.check(
    'precipitation and maximum temperature per year',
    () =>
      client.query(
        DB,
        "SELECT date_trunc('year', time) AS year, sum(precipitation) AS rain, max(temp_max) AS hottest " +
          'FROM weather GROUP BY 1 ORDER BY 1',
      ),
    years,
    (found) => found.map(({ rain, hottest }) => `${rain.toFixed(0)} mm ${hottest} °C`).join(', '),
  );
  const kinds = countBy(days, ({ weather: kind }) => kind).map(([weather, n]) => ({ weather, n }));
  await narrator.check(
    'days by weather type',
    () =>
      client.query(
        DB,
        'SELECT weather, count(*) AS n FROM weather GROUP BY weather ORDER BY weather',
      ),
    kinds,
    (found) => found.map(({ weather: kind, n }) => `${kind} ${n}`).join(', '),
  );
  const meanOfDay = Array.from({ length: 24 }, (_, hour) => {
    const same = hours.filter(({ timeMs }) => new Date(timeMs).getUTCHours() === hour);
    return { mean: same.reduce((sum, { temperature }) => sum + temperature, 0) / same.length };
  });
  await narrator.check(
    'mean temperature by hour of the day',
    () =>
      client.query(
        DB,
        "SELECT date_part('hour', time) AS hour, avg(temperature) AS mean FROM normals GROUP BY 1 ORDER BY 1",
      ),
    meanOfDay,
    (found) => `coldest ${Math.min(...found.map(({ mean }) => mean)).toFixed(1)} °C`,
  );
}

export async function showStocks(narrator, client) {
  narrator.title('Stocks: ten years of monthly prices');
  const prices = stocks();
  const lines = prices.map((p) => `stocks,symbol=${p.symbol} price=${p.price} ${p.timeMs}`);
  await narrator.step(
    'write them',
    () => client.write(DB, lines.join('\n'), 'ms'),
    () => rows(prices.length),
  );
  const symbols = [...new Set(prices.map(({ symbol }) => symbol))].sort();
  const ends = symbols.map((symbol) => {
    const own = prices.filter((p) => p.symbol === symbol).sort((a, b) => a.timeMs - b.timeMs);
    return { symbol, first: own[0].price, last: own.at(-1).price };
  });
  await narrator.check(
    'first and last price by symbol',
    () =>
      client.query(
        DB,
        "SELECT symbol, selector_first(price, time)['value'] AS first, " +
          "selector_last(price, time)['value'] AS last FROM stocks GROUP BY symbol ORDER BY symbol",
      ),
    ends,
    (found) => found.map(({ symbol, last }) => `${symbol} ${last}`).join(', '),
  );
}

export async function showMistakes(narrator, client) {
  narrator.title('Invalid lines');
  const body = 'notes,author=ann pages=3i\nnotes,author=bob pages="many"\nnotes,author=cy pages=5i';
  await narrator.check(
    'one of three lines is rejected, the others are written',
    async () => {
      const query = { db: DB, precision: 'ns' };
      const { status, text } = await client.call('POST', '/api/v3/write_lp', { query, body });
      const [{ n }] = await client.query(DB, 'SELECT count(*) AS n FROM notes');
      return { status, line: JSON.parse(text).data[0].line_number, n };
    },
    { status: 400, line: 2, n: 2 },
    ({ line, n }) => `line ${line} rejected, ${n} rows written`,
  );
}

function countBy(items, keyOf) {
  const counts = new Map();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}
