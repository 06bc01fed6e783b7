package main

import (
	"github.com/glimdb/db/query"
	"github.com/spf13/cobra"
)

// routingFlags say which clusters a question goes to.
type routingFlags struct {
	mode, fuse string
	clusters   int
	hyde       bool
}

func (f *routingFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	modes := []string{string(query.RoutingOff), string(query.RoutingAuto), string(query.RoutingVector), string(query.RoutingKeyword), string(query.RoutingHybrid)}
	fl.StringVar(&f.mode, "routing", "", "search passages by topic clusters (see glim cluster): off (the default), auto, vector, keyword or hybrid")
	fl.IntVar(&f.clusters, "clusters", 0, "clusters to search at least (default: as measured)")
	fl.StringVar(&f.fuse, "fuse", "", "how hybrid routing brings words and vectors together: prefilter (the default), weighted or rrf")
	fl.BoolVar(&f.hyde, "hyde", false, "route by a passage that the chat model imagines as the answer, too")
	_ = cmd.RegisterFlagCompletionFunc("fuse", cobra.FixedCompletions([]string{string(query.FusePrefilter), string(query.FuseWeighted), string(query.FuseRRF)}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("routing", cobra.FixedCompletions(modes, cobra.ShellCompDirectiveNoFileComp))
}

func (f *routingFlags) options() query.RoutingOptions {
	return query.RoutingOptions{Mode: query.Routing(f.mode), Clusters: f.clusters, Fuse: query.Fuse(f.fuse), HyDE: f.hyde}
}
