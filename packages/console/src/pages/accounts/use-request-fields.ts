import { fetchRequestSchemas } from '@plinth/console-core/api/accounts.js';
import { HIDDEN_FIELDS } from '@plinth/console-core/lib/account-form.js';
import { requestFields } from '@plinth/console-core/lib/form/record-fields.js';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

/** Returns the inputs of a request, derived from its schema on the server. */
export function useRequestFields(
  schema:
    | 'AccountCreate'
    | 'AccountState'
    | 'AccountUpdate'
    | 'PersonCreate'
    | 'PersonUpdate'
    | 'PlatformSettings',
) {
  const schemas = useQuery({
    queryKey: ['account-schemas'], // not below `accounts`, which every change invalidates
    queryFn: fetchRequestSchemas,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const fields = useMemo(
    () => schemas.data && requestFields(schemas.data[schema], schemas.data, HIDDEN_FIELDS),
    [schemas.data, schema],
  );
  return { schemas, fields };
}
