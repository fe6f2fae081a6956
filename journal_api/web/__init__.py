"""What every request passes, whatever its resource: middleware, authentication, decoding, responses."""
