import { flights } from './data.mjs';

const CHUNK_SIZE_BYTES = 4 * 1024 * 1024;
const IN_FLIGHT = 3;

/**
 * Writes all flights and computes the results that the server must return later.
 * Flights with the same minute and route are one point, and the last write wins.
 */
export async function writeFlights(client, db) {
  const tally = new Tally();
  const sending = new Set();
  let lines = [];
  let sizeBytes = 0;
  let lineCount = 0;
  let sentBytes = 0;
  let lastMinute = -1;
  const flush = async () => {
    const body = lines.join('');
    lines = [];
    sizeBytes = 0;
    sentBytes += body.length;
    const sent = client.write(db, body, 's').finally(() => sending.delete(sent));
    sending.add(sent);
    if (sending.size >= IN_FLIGHT) await Promise.race(sending);
  };
  for await (const { minutes, delays, distances, origins, destinations } of flights()) {
    for (let row = 0; row < minutes.length; row += 1) {
      const minute = minutes[row];
      // Batches are sent in parallel. A minute stays in one batch, so that its write order is defined.
      if (sizeBytes >= CHUNK_SIZE_BYTES && minute !== lastMinute) await flush();
      lastMinute = minute;
      const line =
        `flights,origin=${origins[row]},destination=${destinations[row]} ` +
        `delay=${delays[row]}i,distance=${distances[row]}i ${minute * 60}\n`;
      lines.push(line);
      sizeBytes += line.length;
      lineCount += 1;
      tally.add(minute, delays[row], distances[row], origins[row], destinations[row]);
    }
  }
  await flush();
  await Promise.all(sending);
  tally.close();
  return { tally, lineCount, sentBytes };
}

/** Totals over points. Points of the current minute are added once no later write can replace them. */
class Tally {
  pointCount = 0;
  delaySum = 0;
  farthest = 0;
  byOrigin = new Map();
  atlantaByHour = new Map();
  #minute = -1;
  #points = new Map();

  add(minute, delay, distance, origin, destination) {
    if (minute !== this.#minute) {
      this.close();
      this.#minute = minute;
    }
    this.#points.set(`${origin}>${destination}`, { delay, distance, origin });
  }

  close() {
    for (const { delay, distance, origin } of this.#points.values()) {
      this.pointCount += 1;
      this.delaySum += delay;
      this.farthest = Math.max(this.farthest, distance);
      const seen = this.byOrigin.get(origin) ?? { flights: 0, delays: 0 };
      this.byOrigin.set(origin, { flights: seen.flights + 1, delays: seen.delays + delay });
      if (origin !== 'ATL') continue;
      const hour = Math.floor(this.#minute / 60);
      this.atlantaByHour.set(hour, (this.atlantaByHour.get(hour) ?? 0) + 1);
    }
    this.#points.clear();
  }
}
