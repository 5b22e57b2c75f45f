import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <div className="page">
      <h1 tabIndex={-1}>Page not found</h1>
      <p className="soft">The console has no page at this address.</p>
      <p>
        <Link to="/">Go to Home</Link>
      </p>
    </div>
  );
}
