import { useServer } from '../../components/shell/server-context.js';

export function ServerPage() {
  const info = useServer();
  return (
    <div className="page">
      <h1 tabIndex={-1}>Server {info.version}</h1>
    </div>
  );
}
