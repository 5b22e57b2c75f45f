import { setImmediate } from 'node:timers/promises';
import type { HttpService } from '@plinth/kernel';

/**
 * Starts all services concurrently, so that their store transactions share commits. All but `alongside` may authenticate through
 * `first`, so they wait for it. Rejects only when no service is still starting.
 */
export async function startServices(
  services: readonly HttpService[],
  order: {
    readonly first: HttpService;
    readonly alongside: HttpService | undefined;
    onStart(service: HttpService): void;
  },
): Promise<void> {
  const start = async (service: HttpService): Promise<void> => {
    order.onStart(service);
    await service.start();
  };
  const first = start(order.first);
  const starts = services.map(async (service) => {
    if (service === order.first) return await first;
    if (service !== order.alongside) await first;
    await start(service);
  });
  const settled = Promise.allSettled(starts);
  // One tick later: the tables of the first two come first, because these services have the most work afterwards.
  await setImmediate();
  for (const service of services) service.prepare?.().catch(() => undefined); // The start reports the error again.
  const failed = (await settled).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
