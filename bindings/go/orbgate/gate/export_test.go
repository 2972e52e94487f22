package gate

import "time"

// Later moves the gate's clock ahead. No request may be running.
func (g *Gate) Later(by time.Duration) { g.start = g.start.Add(-by) }
