import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, WebhookApp, WebhookReceiver } from '../harness/index.js';
import { startNext } from './next-round.js';
import { WebhookLoad } from './webhook-load.js';

const FLAGS = [
  '--without-auth',
  '--services=webhooks',
  '--webhooks-allow-private-targets=127.0.0.0/8',
];
const EVENTS_PER_SEC = 1000;

/** Kills the server repeatedly while events are published, and checks that every acknowledged one arrives. */
export async function killWebhookServer(roundCount: number, seed: number): Promise<string> {
  const chance = new Chance(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-webhook-crash-'));
  const receiver = await WebhookReceiver.start();
  let server = await startNext({ flags: FLAGS, dataDir }, false);
  try {
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['load'] });
    const load = new WebhookLoad(app, receiver);
    for (let round = 0; round < roundCount; round++) {
      let isOver = false;
      const publishing = load.publish(server, EVENTS_PER_SEC, () => isOver);
      await load.untilMore(chance.between(50, 400));
      await sleep(chance.between(0, 20));
      await server.kill();
      load.noteKill();
      isOver = true;
      await publishing;
      server = await startNext({ flags: FLAGS, dataDir }, round === roundCount - 1);
    }
    await load.untilArrived(60_000);
    const twiceCount = load.checkTwice();
    return `${load.acknowledgedCount} events, ${twiceCount} came twice`;
  } finally {
    await server.close();
    await receiver.close();
    await rm(dataDir, { recursive: true });
  }
}
