-- Notes that others became part of count the sessions of those, too: promotion asks for them all.
CREATE INDEX link_merged ON link (target) WHERE relation = 'merged_into';
