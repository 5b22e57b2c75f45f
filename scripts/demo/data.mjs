import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from '../lib/root.mjs';

const folder = path.join(root, 'node_modules', 'vega-datasets', 'data');

/** 1707 earthquakes of one week: points `{ id, net, mag, place, depth, timeMs }`. */
export function earthquakes() {
  const { features } = JSON.parse(fs.readFileSync(path.join(folder, 'earthquakes.json'), 'utf8'));
  return features.map(({ id, properties, geometry }) => ({
    id,
    net: properties.net,
    mag: properties.mag,
    place: properties.place,
    depth: geometry.coordinates[2],
    timeMs: properties.time,
  }));
}

/** Four years of daily weather in Seattle. */
export function weather() {
  return csv('seattle-weather.csv').map((row) => ({
    timeMs: Date.parse(`${row.date}T00:00:00Z`),
    weather: row.weather,
    precipitation: Number(row.precipitation),
    temp_max: Number(row.temp_max),
    temp_min: Number(row.temp_min),
    wind: Number(row.wind),
  }));
}

/** Hourly climate normals of one year in Seattle. */
export function hourlyNormals() {
  return csv('seattle-weather-hourly-normals.csv').map((row) => ({
    timeMs: Date.parse(`${row.date}Z`),
    pressure: Number(row.pressure),
    temperature: Number(row.temperature),
    wind: Number(row.wind),
  }));
}

/** Ten years of monthly prices of five stocks. */
export function stocks() {
  return csv('stocks.csv').map((row) => ({
    symbol: row.symbol,
    timeMs: Date.parse(`${row.date} UTC`),
    price: Number(row.price),
  }));
}

/**
 * Three million flights of half a year, in time order, as batches of columns:
 * `{ minutes, delays, distances, origins, destinations }`, with minutes since 1970.
 */
export async function* flights() {
  // DuckDB, a dependency of the time-series package, is used here only to read the Parquet file.
  const load = createRequire(path.join(root, 'packages', 'tsdb', 'package.json'));
  const { DuckDBInstance } = load('@duckdb/node-api');
  const reader = await (await DuckDBInstance.create(':memory:')).connect();
  const file = path.join(folder, 'flights-3m.parquet').replaceAll("'", "''");
  const result = await reader.stream(
    `SELECT (epoch_us(date) // 60000000)::INTEGER, delay::INTEGER, distance::INTEGER, origin, destination
     FROM '${file}' ORDER BY date, origin, destination, delay`,
  );
  for (
    let chunk = await result.fetchChunk();
    chunk?.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    const [minutes, delays, distances, origins, destinations] = chunk.getColumns();
    yield { minutes, delays, distances, origins, destinations };
  }
  reader.closeSync();
}

function csv(name) {
  const [head, ...lines] = fs.readFileSync(path.join(folder, name), 'utf8').trim().split(/\r?\n/);
  const names = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  });
}
