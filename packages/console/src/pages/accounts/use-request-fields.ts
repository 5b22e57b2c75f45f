import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { fetchRequestSchemas } from '../../api/accounts.js';
import { HIDDEN_FIELDS } from '../../lib/account-form.js';
import { requestFields } from '../../lib/form/record-fields.js';

/** Returns the inputs of a request, derived from its schema on the server. */
export function useRequestFields(
  schema: 'AccountCreate' | 'AccountUpdate' | 'PersonCreate' | 'PersonUpdate',
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
