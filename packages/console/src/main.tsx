import { Problem } from '@plinth/console-core/api/problem.js';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { preloadPages, router } from './routes.js';
import './styles/tokens.css';
import './styles/base.css';

const LIST_STALE_MS = 5000;
const MAX_RETRY_COUNT = 3;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: LIST_STALE_MS,
      // `always`, because a computer without a network still reaches a server on localhost.
      networkMode: 'always',
      // Only connection failures are retried; an error response would not change.
      retry: (count, error) =>
        error instanceof Problem && error.status === 0 && count < MAX_RETRY_COUNT,
    },
  },
});

const IDLE_MS = 1500;

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
setTimeout(preloadPages, IDLE_MS);
