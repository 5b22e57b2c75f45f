import { checkTarget } from '@plinth/console-core/api/webhooks.js';
import { useQuery } from '@tanstack/react-query';
import { useDelayed } from '../../components/controls/use-delayed.js';

const CHECK_AFTER_MS = 250;

export interface TargetCheck {
  /** Why the server would not deliver to the URL. */
  readonly problem: string | undefined;
  /** The server delivers to the typed URL. */
  readonly isAllowed: boolean;
}

/** Checks a webhook URL while it is typed. @param origin its scheme, host and port; empty for an invalid URL. */
export function useTargetCheck(origin: string): TargetCheck {
  const checked = useDelayed(origin, CHECK_AFTER_MS);
  const { data } = useQuery({
    queryKey: ['webhook-target', checked],
    queryFn: () => checkTarget(checked),
    enabled: checked !== '',
    staleTime: 60_000,
  });
  if (data === undefined || checked !== origin) return { problem: undefined, isAllowed: false };
  return { problem: data.problem ?? undefined, isAllowed: data.allowed };
}
