import { useQuery } from '@tanstack/react-query';
import { fetchDeliveries } from '../../api/webhooks.js';
import { type DeliveryFigures, deliveryFigures } from '../../lib/delivery-text.js';

const REFRESH_MS = 5000;

/** The figures of the newest deliveries of an app, kept up to date. @param app empty for none. */
export function useFigures(app: string): DeliveryFigures | undefined {
  const { data } = useQuery({
    queryKey: ['webhooks', 'deliveries', app, 'figures'],
    queryFn: async () => deliveryFigures((await fetchDeliveries(app, {})).deliveries) ?? null,
    refetchInterval: REFRESH_MS,
    enabled: app !== '',
  });
  return data ?? undefined;
}
