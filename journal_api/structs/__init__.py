"""What crosses the wire: shapes of bodies, queries and answers, and the rules inside one body."""
