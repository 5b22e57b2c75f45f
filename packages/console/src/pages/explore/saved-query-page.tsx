import { fetchSavedQuery } from '@plinth/console-core/api/tsdb.js';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ProblemNote } from '../../components/controls/problem-note.js';

/** Opens the saved query whose id is in the address. */
export function SavedQueryPage() {
  const { savedId = '' } = useParams({ strict: false }) as { readonly savedId?: string };
  const navigate = useNavigate();
  const saved = useQuery({
    queryKey: ['tsdb', 'saved-queries', savedId],
    queryFn: () => fetchSavedQuery(savedId),
  });
  useEffect(() => {
    if (saved.data === undefined) return;
    const { id, db, lang, text, view, name, rev } = saved.data;
    const search = { ...view, db, lang, q: text, name, saved: id, rev: String(rev) };
    void navigate({ to: '/explore', search, replace: true });
  }, [saved.data, navigate]);
  return saved.isError ? (
    <div className="page">
      <h1 tabIndex={-1}>Saved query</h1>
      <ProblemNote error={saved.error} onRetry={() => void saved.refetch()} />
    </div>
  ) : null;
}
