import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <div className="page">
      <h1 tabIndex={-1}>No such page</h1>
      <p className="soft">The address leads nowhere in this console.</p>
      <p>
        <Link to="/">To Home</Link>
      </p>
    </div>
  );
}
