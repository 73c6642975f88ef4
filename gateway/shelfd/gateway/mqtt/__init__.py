"""MQTT: requests in, replies and events out, on the dispatch that every transport shares."""
